"""Extensions of lineal, each in one file: run through every door by the tests beside them."""
