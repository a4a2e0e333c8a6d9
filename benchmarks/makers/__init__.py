"""Where data comes from: small pure functions with a seed, each from sizes to arrays by name (``X`` and ``y`` at least)."""
