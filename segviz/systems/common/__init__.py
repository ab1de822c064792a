"""Parts that several systems share.

``structure_editor`` a structure that is changed, and the events of the changes
``annotation``  annotation and task components: bound to services, called in groups, offline
``retrieval``   scores of nodes, rankings, a walk from the top, units below evidence
``published``   the paper of a system and the numbers it prints
``side_tables`` cells of side tables: moments and names of nodes
"""
