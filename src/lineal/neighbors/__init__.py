"""The nearest training rows, and what they say."""
