"""What every estimator and every function keeps to."""
