"""How sure coefficients are: standard errors, tests, intervals."""
