"""Ask: a question, its evidence and the explanations."""
