"""xMemory: messages, episodes, statements and themes."""
