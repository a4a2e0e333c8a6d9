"""What a verdict of each kind states, compared line by line with what the data shows."""
