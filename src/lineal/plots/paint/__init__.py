"""Painters: small functions of the Figure record, one for files and notebooks, one for the page."""
