"""Solvers of kernel machines: ridge, support vectors, logistic regression, perceptron, Gaussian processes."""
