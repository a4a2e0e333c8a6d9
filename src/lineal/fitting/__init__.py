"""From a problem to a fit: solver, stop rule, proof and verdict in one line."""
