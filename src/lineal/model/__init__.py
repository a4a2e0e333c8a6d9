"""What remains of a fit: coefficients with names, the verdict, the trace, and how they are shown."""
