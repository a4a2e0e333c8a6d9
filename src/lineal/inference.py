"""Statistics above a fit: robust standard errors and tests between models."""
