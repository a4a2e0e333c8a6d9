"""`python -m lineal` is `lineal`."""

from __future__ import annotations

from lineal.cli import main

main()
