"""What a file claims: its fields, and the rows it says it was made from."""
