"""From the data file to the cells of the rows that were fitted."""
