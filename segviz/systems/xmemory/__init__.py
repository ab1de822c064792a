"""xMemory: messages, episodes, statements and themes (Beyond RAG for Agent Memory).

``system``     parameters and steps
``episodes``   the open episode, and the statements of a closed one
``themes``     the objective f, and the splits and merges it guides
``retrieval``  a covering choice of themes and statements, and episodes where they help
``tables``     side tables
"""

from segviz.systems.xmemory.system import XMemory

__all__ = ["XMemory"]
