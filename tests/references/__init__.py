"""Published and certified figures."""
