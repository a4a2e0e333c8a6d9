"""Halfspaces of two classes: perceptrons, the widest margin, the fewest mistakes; floats propose, integers prove."""
