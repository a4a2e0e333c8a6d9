"""Forged model files and data, and the line of the checker that must refuse each."""
