"""The part that proves: bounds on the distance from the optimum, and exact answers about halfspaces."""
