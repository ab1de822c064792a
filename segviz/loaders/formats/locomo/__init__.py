"""LoCoMo in its three shapes: samples, sessions, turns, questions, evidence."""
