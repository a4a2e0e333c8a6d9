"""What somebody else would add to lineal, each in one file: run through every door by the tests beside them."""
