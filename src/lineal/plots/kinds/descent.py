"""The picture `descent`: steps downhill over the contours of the objective, for step sizes too small, too large, just right."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.fitting.fitting import fit as fit_problem
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.inference.rows import training_rows
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import model_of, sha256
from lineal.plots.traces import Steps, steps_of
from lineal.plots.wording import clean, number
from lineal.problem.problem import Problem
from lineal.solvers.gradient_descent import GradientDescent

GRID_POINTS: Final = 61
CONTOURS: Final = 7
STEPS: Final = 40
REACH: Final = 3.0
"""How many times as far from the optimum as the start is a path is drawn; what runs away leaves the picture."""


Grid = tuple[Axis, Axis, Array, Array, Array]
"""The axes of two coefficients, the places of a grid along them, and F there."""


@dataclass(frozen=True)
class Path:
    """One descent: what it is called, its objectives and its coefficients (steps, columns, outputs)."""

    label: str
    objective: Array
    coef: Array


def descent(
    model: Any,
    data: Any,
    trace: Any = None,
    *,
    eta: str = "0.1,2,auto",
    steps: int = STEPS,
    batch: int | None = None,
    seed: int = 0,
    start: str | None = None,
    x: str | None = None,
    y: str | None = None,
) -> Figure:
    """Return descents ``b <- b - eta grad F`` of a model's objective, above F over the steps, below the path.

    ``eta`` are step sizes with commas between them, each perhaps with its number of steps (``0.1:75,2:10,auto:10``); auto finds
    each step by halving. ``batch`` picked rows make a stochastic step. Paths begin at 0, or at ``start`` (a number for each
    design column). Contours stand at ``F* + (F0 - F*) / 4^i`` over the two coefficients that travel farthest, or ``x`` and
    ``y``, the others at their optimum. With a ``trace`` the steps of that file are drawn, if they are those of the model.

    >>> import lineal
    >>> table = {"a": [1.0, 2, 3, 4], "b": [2.0, 1, 4, 3], "k": ["no", "yes", "no", "yes"]}
    >>> figure = descent(lineal.fit(table, "k", penalty=0.1), table, eta="0.1,auto", steps=5)
    >>> len(figure.panels), figure.panels[2].title
    (4, 'eta = 0.1, 5 steps')
    """
    fitted = model_of(model)
    KIND.require(fitted)
    source = training_rows(fitted, *(data if isinstance(data, tuple) else (data,)))
    problem = Problem.of(source, fitted.loss, fitted.penalty)
    best = fitted.coef
    if trace is not None:
        paths = [_from_trace(fitted, one) for one in (trace if isinstance(trace, list | tuple) else [trace])]
    else:
        paths = [
            _path(source, fitted, word.strip(), int(steps), batch, int(seed), start) for word in str(eta).split(",")
        ]
    low = problem.evaluate(best).value
    high = float(paths[0].objective[0])
    pair = _pair(fitted, paths, best, x, y)
    names = [fitted.columns[k] for k in pair]
    grid = _grid(names, problem, best, pair, paths)
    levels = low + max(high - low, 1e-12) / 4.0 ** np.arange(CONTOURS)
    top = [_curve(path, low, high) for path in paths]
    below = [_plane(path, grid, pair, levels, best) for path in paths]
    others = len(fitted.columns) - len(set(names))
    words = [f"F = {number(low)} at the optimum, {number(high)} at the start."]
    words.append(f"Contours are F* + (F0 - F*) / 4^i over {clean(names[0])} and {clean(names[1])}.")
    if others:
        held = "coefficient is" if others == 1 else f"{others} coefficients are"
        words.append(f"The other {held} at the optimum in the contours, and move along the paths.")
    verdict = Word(fitted.verdict.kind, fitted.verdict.sentence, fitted.verdict.proven)
    return Figure(
        kind="descent", title=f"Steps downhill: {fitted.target.name}", caption=" ".join(words), panels=(*top, *below),
        verdict=verdict, table=_table(paths, pair, names), across=len(paths), source={"model": sha256(fitted)},
    )  # fmt: skip


def _path(source: Any, model: Model, word: str, steps: int, batch: int | None, seed: int, start: str | None) -> Path:
    """Return one descent by a step size that was typed as STEP or STEP:COUNT."""
    size, _, count = word.partition(":")
    try:
        number_of = int(count) if count else steps
        step = None if size == "auto" else float(size)
    except ValueError:
        raise InputError(f"the step {word!r} is no number; write steps as 0.1,2,auto or 0.1:75,2:10,auto:10.") from None
    begin = np.zeros(model.coef.shape)
    if start is not None:
        from lineal.api.options import read_start

        begin = np.asarray(read_start(start, model.columns, model.coef.shape[1]))
    picked = {} if batch is None or step is None else {"batch": int(batch), "seed": seed}
    solver = GradientDescent(step=step, **picked)  # type: ignore[arg-type]
    done = fit_problem(source, model.loss, model.penalty, solver=solver, start=begin, max_iter=number_of, iterates=True)
    taken = len(done.trace) - 1
    label = f"{f'eta = {size}' if step is not None else 'eta by halving'}, {taken} steps"
    objective = np.array(done.trace.column("objective"), float)
    return Path(label, objective, np.array(done.trace.iterates))


def _from_trace(model: Model, given: Any) -> Path:
    found: Steps = steps_of(given)
    if found.iterates is None:
        raise InputError("the trace keeps no coefficients; write it as a .parquet or .csv file of lineal fit --trace.")
    known = found.about.get("model")
    if known is not None and known != sha256(model):
        raise InputError("the trace is of another model: its SHA-256 is not that of the model file.")
    if found.iterates.shape[1:] != model.coef.shape:
        raise InputError(
            f"the trace has coefficients of shape {found.iterates.shape[1:]}, the model {model.coef.shape}."
        )
    return Path(f"{found.name}, {len(found.step) - 1} steps", found.objective, found.iterates)


def _pair(model: Model, paths: list[Path], best: Array, x: str | None, y: str | None) -> Index:
    """Return the two coefficients that travel farthest, or those that were named."""
    for name in (x, y):
        if name is not None and name not in model.columns:
            raise InputError(
                f"the model has no coefficient {name!r}; it has {', '.join(map(repr, model.columns[:8]))}."
            )
    travel = np.zeros(len(model.columns))
    for path in paths:
        inside = path.coef[np.isfinite(path.coef).all(axis=(1, 2))][:, :, 0]
        near = np.clip(inside, *_reach(inside[0], best[:, 0]))
        travel = np.maximum(travel, np.ptp(near, axis=0))
    chosen = [model.columns.index(name) for name in (x, y) if name is not None]
    chosen += [k for k in np.argsort(-travel, kind="stable").tolist() if k not in chosen][: 2 - len(chosen)]
    return np.array(chosen, np.intp)


def _reach(start: Array, best: Array) -> tuple[Array, Array]:
    """Return how far a path is looked at: a few times as far from the optimum as the start is."""
    width = REACH * np.maximum(np.abs(start - best), 0.05 * float(np.abs(start - best).max()) + 1e-12)
    return best - width, best + width


def _grid(names: list[str], problem: Problem, best: Array, pair: Index, paths: list[Path]) -> Grid:
    """Return the axes and F over a grid of the two coefficients."""
    limits = _reach(paths[0].coef[0, :, 0], best[:, 0])
    ends = []
    for k in pair:
        seen = [best[k : k + 1, 0]]
        for path in paths:
            values = path.coef[:, k, 0]
            seen.append(np.clip(values[np.isfinite(values)], limits[0][k], limits[1][k]))
        ends.append(np.concatenate(seen))
    axes = [Axis.around(f"coefficient of {name}", end, pad=0.15) for name, end in zip(names, ends, strict=True)]
    gx, gy = (np.linspace(axis.low, axis.high, GRID_POINTS) for axis in axes)
    heights = np.empty((GRID_POINTS, GRID_POINTS))
    points = np.array(best)
    for i, up in enumerate(gy):
        for j, across in enumerate(gx):
            points[pair[0], 0], points[pair[1], 0] = across, up
            heights[i, j] = problem.evaluate(points).value
    return axes[0], axes[1], gx, gy, heights


def _curve(path: Path, low: float, high: float) -> Panel:
    """Return F over the steps."""
    steps = np.arange(float(len(path.objective)))
    room = 0.08 * max(high - low, 1e-12)
    finite = np.where(np.isfinite(path.objective), path.objective, np.nan)
    top = min(float(np.nanmax(finite)), low + 3.0 * (high - low) + room)
    shown = np.where(finite <= 100.0 * (top - low) + low, finite, np.nan)
    marks = (
        Mark("rule", y=[low], role="guide", label="optimum"),
        Mark("line", steps, shown, group=0, role="strong"),
        Mark("points", steps, shown, group=0),
    )
    return Panel(
        Axis.around("step", steps, [0.0, 1.0]), Axis("F", low - room, max(top, high) + room), marks, path.label
    )


def _plane(path: Path, grid: Grid, pair: Index, levels: Any, best: Array) -> Panel:
    """Return the path over the contours."""
    x, y, gx, gy, heights = grid
    px, py = path.coef[:, pair[0], 0], path.coef[:, pair[1], 0]
    far = (np.abs(px) > 1e3 * (abs(x.low) + abs(x.high))) | (np.abs(py) > 1e3 * (abs(y.low) + abs(y.high)))
    px, py = (np.where(far | ~np.isfinite(v), np.nan, v) for v in (px, py))
    marks = (
        Mark("contour", gx, gy, z=heights, levels=levels, role="faint"),
        Mark("line", px, py, group=0, role="strong", label="path"),
        Mark("points", px, py, group=0),
        Mark("points", px[:1], py[:1], hollow=[True], role="strong", label="start"),
        Mark("points", best[pair[0]], best[pair[1]], group=1, role="strong", label="optimum of the model"),
    )
    return Panel(x, y, marks, path.label)


def _table(paths: list[Path], pair: Index, names: list[str]) -> dict[str, Any]:
    kept = [min(len(path.objective), len(path.coef)) for path in paths]
    table: dict[str, Any] = {
        "descent": [path.label for path, n in zip(paths, kept, strict=True) for _ in range(n)],
        "step": [k for n in kept for k in range(n)],
        "objective": np.concatenate([path.objective[:n] for path, n in zip(paths, kept, strict=True)]),
    }
    for k, name in zip(pair, names, strict=True):
        table[f"coefficient of {name}"] = np.concatenate(
            [path.coef[:n, k, 0] for path, n in zip(paths, kept, strict=True)]
        )
    return table


def _refuses(model: Model) -> str:
    if model.feature_map is not None or model.coef.shape[1] != 1:
        return "its coefficients are of several scores, or of training rows; the picture is for one score."
    if len(model.columns) < 2:
        return "it has a single coefficient, and the picture needs two."
    if not model.loss.convex:
        return f"the {model.loss.name} loss is not followed by slopes."
    return (
        ""
        if model.loss.smooth and model.penalty.smooth
        else "its objective has corners, on which gradient descent has no slope."
    )


KIND = Kind(
    name="descent",
    question="Where do steps of a given size lead: too small, too large, just right?",
    inputs=("MODEL DATA", "MODEL DATA TRACE.."),
    notes=(29, 30, 43),
    draw=descent,
    refuses=_refuses,
)
