"""Where rows come from: arrays and blocks in memory."""
