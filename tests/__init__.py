"""The tests, one folder for each kind of truth they hold lineal to."""
