"""What a cell of a table says: missing, a number as people write it, a date, or text."""
