"""Tables wherever they are: delimited text, JSON lines, SVMlight, Parquet, Arrow and data frames."""
