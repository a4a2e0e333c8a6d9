"""Generative models: how the rows of every class are distributed, counted in one pass."""
