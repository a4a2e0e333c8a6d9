"""How good predictions are: figures over rows, their intervals, confusion and calibration."""
