"""One kind of column each: how cells of a table become columns of a design."""
