"""Where to look for better points. Nothing that is proven depends on how well this is done."""
