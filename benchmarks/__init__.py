"""Benchmarks of lineal against its peers: the same objective, the same suboptimality, fresh processes."""
