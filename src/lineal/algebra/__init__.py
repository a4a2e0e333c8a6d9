"""Small dense matrices: factors that know the layout of columns, double-double sums, dependencies between columns."""
