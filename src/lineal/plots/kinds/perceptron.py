"""The picture `perceptron`: its updates one by one, old and new boundary, with the arithmetic; or its mistakes over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.perceptron.step_log import Line, spelled
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Frame, Mark, Panel
from lineal.plots.runs import Walk, arithmetic, walk_of
from lineal.plots.wording import number

MAX_PANELS: Final = 6
"""Updates that the film strip shows."""
MAX_FRAME_POINTS: Final = 20_000
"""Points of all frames together, up to which the steps of a single picture are kept as a film."""
MAX_ASPECT: Final = 2.5
"""Up to how many times as long one axis may be as the other for right angles to be drawn as such."""
VIEWS: Final = ("steps", "mistakes")


def perceptron(
    data: Any = None,
    trace: Any = None,
    *,
    target: str | None = None,
    classes: str | None = None,
    formula: str | None = None,
    drop: Sequence[str] = (),
    intercept: bool | str = True,
    start: str | None = None,
    tie: str = "mistake",
    epochs: int = 10,
    order: str = "given",
    seed: int = 0,
    step: int | None = None,
    view: str = "steps",
) -> Figure:
    """Return the first six updates of a perceptron as a film strip, or one ``step`` with its sums: ``w <- w + y x``.

    Two columns are drawn as they are. More of them are drawn in the plane of the old weights and the row, in which all
    scores of both boundaries are exact: nothing of them is left out. Of several classes the scores before and after are
    drawn. The view ``mistakes`` shows the mistakes of the weights over the steps, and the pocket's. Options as in `lineal trace`.

    >>> points = {"x1": [1, 3, 2, 3, 2], "x2": [1, 2, 4, 4, 3], "class": ["-", "+", "+", "+", "-"]}
    >>> figure = perceptron(points, target="class", start="-1,0,0", epochs=1)
    >>> figure.data["score"], len(figure.panels)
    ([-1.0, -1.0, 14.0, 17.0, 12.0], 2)
    """
    walk = walk_of(
        data,
        trace,
        target=target,
        classes=classes,
        formula=formula,
        drop=drop,
        intercept=intercept,
        start=start,
        tie=tie,
        epochs=epochs,
        order=order,
        seed=seed,
    )
    if view not in VIEWS:
        raise InputError(f"the view is {view!r}; it is one of {', '.join(VIEWS)}.")
    if not len(walk.log):
        raise InputError("the run has no step to draw.")
    frames: tuple[Frame, ...] = ()
    panels: tuple[Panel, ...]
    if view == "mistakes":
        panels, words = (_mistakes(walk),), [walk.ended]
    elif step is not None:
        lines = [line for line in walk.log if line.step == int(step)]
        if not lines:
            raise InputError(f"the run has no step {step}; it has steps 1 to {walk.log.lines[-1].step}.")
        panels, words = (_panel(walk, lines[0]),), [arithmetic(walk, lines[0]), walk.ended]
        if len(walk.X) * len(walk.log) <= MAX_FRAME_POINTS:
            frames = tuple(Frame(line.step, arithmetic(walk, line), {0: _panel(walk, line)}) for line in walk.log)
    else:
        shown = [walk.log.lines[k] for k in walk.updates[:MAX_PANELS]] or [walk.log.lines[0]]
        panels = tuple(_panel(walk, line) for line in shown)
        words = [f"The first {len(shown)} of {len(walk.updates):,} updates; {walk.ended}", arithmetic(walk, shown[0])]
    if view == "steps" and not _flat(walk) and len(walk.classes) == 2:
        words.append("Each panel is the plane of the old weights and the row, in which all scores are exact.")
    return Figure(
        kind="perceptron", title="A perceptron, step by step", caption=" ".join(words), panels=panels, classes=walk.classes,
        verdict=walk.verdict,
        table=_table(walk), frames=frames, across=3 if len(panels) > 2 else 2,
    )  # fmt: skip


def _flat(walk: Walk) -> bool:
    """Whether the columns themselves are the plane."""
    return len(walk.features) == 2


def _table(walk: Walk) -> dict[str, Any]:
    plain = walk.log.to_dict()
    several = len(walk.classes) > 2
    table: dict[str, Any] = {name: plain[name] for name in ("epoch", "step")}
    table["row"] = [row + 1 for row in plain["row_index"]]
    table["weights"] = [" ".join(spelled(w) for w in line.weights.T) for line in walk.log]
    table["score"] = [spelled(line.score) for line in walk.log] if several else plain["score"]
    table |= {name: plain[name] for name in ("correct", "update")}
    return table | {"mistakes": walk.now, "pocket mistakes": walk.best}


def _panel(walk: Walk, line: Line) -> Panel:
    """Return a step: rows, the old boundary dashed, the new one, the row that is presented, weights as arrows."""
    if line.weights.shape[1] > 1:
        return _bars(walk, line)
    old, x = line.weights[:, 0], line.x
    new = old + line.signs[0] * x
    if _flat(walk):
        basis = np.zeros((len(x), 2))
        basis[walk.features, [0, 1]] = 1.0
        names = tuple(walk.columns[k] for k in walk.features)
    else:
        basis, names = _basis(old, x), ("along the old weights", "across them")
    places, at, before, after = walk.X @ basis, x @ basis, old @ basis, new @ basis
    constant = (float(old[0]), float(new[0])) if _flat(walk) and walk.columns[0] == "(intercept)" else (0.0, 0.0)
    ends = [places, at[None, :], before[None, :], after[None, :], np.zeros((1, 2))]
    axes = [Axis.around(name, *(end[:, k] for end in ends), pad=0.12) for k, name in enumerate(names)]
    marks = [Mark("points", places[:, 0], places[:, 1], group=walk.own, rows=walk.numbers)]
    marks += _line(axes, before, constant[0], "guide", "old boundary")
    if line.signs[0]:
        marks += _line(axes, after, constant[1], "strong", "new boundary")
    zero = [0.0]
    if before.any():
        marks.append(Mark("arrow", zero, zero, before[:1], before[1:], role="guide", label="old weights"))
    if line.signs[0] and after.any():
        marks.append(Mark("arrow", zero, zero, after[:1], after[1:], role="strong", label="new weights"))
    own = int(walk.own[np.flatnonzero(walk.numbers == line.row)[0]])
    marks.append(Mark("points", at[:1], at[1:], group=own, role="strong", hollow=[True], label="row presented"))
    right = "right" if line.correct else "wrong"
    title = f"step {line.step}, row {line.row + 1}: {number(float(line.score[0]))}, {right}"
    title += "" if line.correct else f", then {number(float(line.after[0]))}"
    return Panel(axes[0], axes[1], tuple(marks), title, square=not _flat(walk) and _alike(axes))


def _alike(axes: list[Axis]) -> bool:
    """Whether both axes are about as long, so that a unit can be the same on both."""
    across, up = (axis.high - axis.low for axis in axes)
    return 1.0 / MAX_ASPECT <= across / up <= MAX_ASPECT


def _basis(w: Array, x: Array) -> Array:
    """Return an orthonormal basis of the plane of two vectors, (columns, 2), the first along w where it is not 0."""
    first = w if w.any() else x
    vectors: list[Array] = []
    for vector in (first, x, *np.eye(len(x))):
        rest = vector - sum(((vector @ one) * one for one in vectors), np.zeros(len(x)))
        if (length := np.linalg.norm(rest)) > 1e-9 * max(float(np.linalg.norm(vector)), 1e-300) and len(vectors) < 2:
            vectors.append(rest / length)
    return np.column_stack([*vectors, np.zeros(len(x))])[:, :2]


def _line(axes: list[Axis], w: Array, constant: float, role: str, label: str) -> list[Mark]:
    """Return the points of the panel with ``constant + w'p = 0``."""
    if not w.any():
        return []
    reach = 2.0 * sum(axis.high - axis.low + abs(axis.low) + abs(axis.high) for axis in axes)
    foot, along = -constant * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ends = np.array([foot - reach * along, foot + reach * along])
    return [Mark("line", ends[:, 0], ends[:, 1], role=role, label=label)]


def _bars(walk: Walk, line: Line) -> Panel:
    """Return the scores of every class before and after a step."""
    k = np.arange(len(walk.classes))
    zero = np.zeros(len(k))
    marks = (
        Mark("bars", k - 0.38, zero, k - 0.02, line.score, role="faint", label="score before"),
        Mark("bars", k + 0.02, zero, k + 0.38, line.after, group=k),
        Mark("rule", y=[0.0]),
    )
    own = int(walk.own[np.flatnonzero(walk.numbers == line.row)[0]])
    title = f"step {line.step}, row {line.row + 1} of class {walk.classes[own]}"
    return Panel(
        Axis.of_levels("class", walk.classes),
        Axis.around("score", line.score, line.after, [0.0], pad=0.1),
        marks,
        title,
    )


def _mistakes(walk: Walk) -> Panel:
    """Return the mistakes of the weights before each step, and the fewest so far; the state that the pocket returns ringed."""
    if np.isnan(walk.now).any():
        raise InputError("the run is too long to count the mistakes of all its weights; give fewer --epochs.")
    steps = np.array([line.step for line in walk.log], float)
    first = int(np.argmin(walk.now))
    marks = (
        Mark("line", steps, walk.now, group=0, label="weights of the step"),
        Mark("line", steps, walk.best, group=1, role="strong", label="pocket"),
        Mark(
            "points",
            steps[first : first + 1],
            walk.now[first : first + 1],
            role="strong",
            label="what the pocket returns",
        ),
    )
    return Panel(Axis.around("step", steps), Axis.around("rows mistaken", walk.now, [0.0]), marks)


KIND = Kind(
    name="perceptron",
    question="How does a perceptron correct its boundary, mistake by mistake?",
    inputs=("DATA", "TRACE"),
    notes=(20, 23, 24, 25),
    draw=perceptron,
)
