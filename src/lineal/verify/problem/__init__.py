"""What is minimized: losses of rows, penalties of coefficients, and the values of both at a point."""
