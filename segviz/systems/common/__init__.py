"""Parts that several systems share: the draft, annotation helpers, retrieval helpers."""
