"""What is in a column: surveyed, declared or decided, with the reason in a sentence."""
