"""How text columns are asked for and learned from."""
