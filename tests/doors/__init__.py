"""The command line, model files and their checker, as a user meets them."""
