"""An attack on lineal's verdicts that shares no formula with lineal: optima to a hundred digits, nasty designs, forged files."""
