"""What is minimized, and what one pass over the rows learns: F and its derivatives, moments, products, frames."""
