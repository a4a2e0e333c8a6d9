"""From the columns of a table to the columns of a design, learned once and kept with the model."""
