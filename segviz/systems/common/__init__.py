"""Parts that several systems share.

``structure_editor`` an editable structure that records its changes as events ``annotation``
annotation and task components: bound to services, called in groups, offline ``retrieval``   scores
of nodes, rankings, top-down traversal, units below evidence ``published``   the paper of a system
and the numbers it prints ``side_tables`` cells of side tables: times and names of nodes
"""
