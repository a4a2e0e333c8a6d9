"""What was asked for: tables and arrays, options in words, and the functions behind `lineal.fit` and its kin."""
