"""Parts that several systems share.

``structure_editor``  an editable structure that records its changes as events
``annotation``        annotators and tasks: bound to services, called in groups, offline
``retrieval``         scores of nodes, rankings, top-down traversal, units below evidence
``published``         the paper of a system, the numbers it prints, where the system departs from it
``side_tables``       cells of side tables: times and names of nodes
"""
