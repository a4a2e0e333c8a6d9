"""Where rows come from: arrays in memory, and tables in files or data frames."""
