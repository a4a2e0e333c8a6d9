"""Some of the columns of rows held in memory, as a problem of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from lineal.designs import ColumnMajor
from lineal.designs.design import Design, Picker
from lineal.ground.arrays import Index
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks
from lineal.sources.source import Block

GRADIENT_SLACK = 1e-10
"""A column whose gradient exceeds its penalty factor by more than this share has a coefficient other than zero."""

NOT_IN_MEMORY = "the rows are not held in memory, where single columns can be looked at"


class Columns:
    """The designs of a problem by columns; sparse ones that are asked often keep a copy sorted by columns."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.blocks = problem.source.held()
        self.pickers = [block.design.picker() for block in self.blocks]

    @cached_property
    def turned(self) -> list[Design]:
        """The designs for looks at all columns: stored by columns where they are."""
        return [ColumnMajor.of(block.design) for block in self.blocks]

    @cached_property
    def strips(self) -> list[Picker]:
        """Functions from sorted columns to designs that have only these, for products with few vectors."""
        return [design.picker() for design in self.turned]

    @staticmethod
    def refuse(problem: Problem) -> str | None:
        """Return why single columns cannot be had, in words."""
        if not problem.source.resident:
            return NOT_IN_MEMORY
        for block in problem.source.held():
            if not block.design.compiled:
                return f"a design of kind {type(block.design).__name__} does not hand out single columns"
        return None

    def problem_of(self, columns: Index) -> Problem:
        """Return the problem in some columns only (sorted), all other coefficients zero."""
        whole = self.problem
        blocks = [
            Block(pick(columns), block.y, block.weight, block.offset)
            for pick, block in zip(self.pickers, self.blocks, strict=True)
        ]
        moments = replace(
            whole.moments,
            mean=whole.moments.mean[columns],
            scatter=whole.moments.scatter[columns],
            largest=whole.moments.largest[columns],
        )
        names = [whole.source.columns[j] for j in columns]
        return Problem(Blocks(blocks, names), whole.loss, whole.penalty.take(columns), moments)
