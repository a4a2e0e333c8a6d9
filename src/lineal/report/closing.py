"""The last sections of a report: rows to look at, decisions, how the fit was found, what is not known, provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from lineal.errors import LinealError
from lineal.inference.contributions import Contributions
from lineal.plots.diagnosed import refused as no_diagnosis
from lineal.plots.kinds import kind
from lineal.plots.kinds.contributions import parts_of_row
from lineal.plots.kinds.cost import refuses as no_cost
from lineal.plots.wording import clean, number
from lineal.report import html
from lineal.report.facts import Facts
from lineal.report.pictures import Gallery

MAX_ROWS: Final = 5
"""Rows of each list."""
PARTS: Final = 3
"""Contributions that are named of each."""


def rows(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield the rows that a reader should look at, each with what moves its score most."""
    if not facts.rows:
        yield html.sentence("Rows are left out of this report (--rows 0).")
        return
    for words, make in (("Farthest from what is predicted", _farthest), ("Nearest to the boundary", _nearest),
                        ("Rows the fit hangs on, by Cook's distance", _influential)):  # fmt: skip
        try:
            told = make(facts)
        except LinealError as error:
            told = html.sentence(f"Not known: {error}")
        if told:
            yield f"<h3>{html.text(words)}</h3>{told}"
    yield html.sentence(facts.subject.sampled)
    yield gallery.show(lambda: _first(facts))


def _first(facts: Facts) -> Any:
    """Return how the score of the row farthest from its prediction comes together."""
    kind("contributions").require(facts.model)
    worst = int(np.argsort(-_loss(facts), kind="stable")[0])
    row = int(facts.subject.rows[worst]) + 1
    return kind("contributions").draw(facts.model, facts.subject, row=row, against="typical")


def _loss(facts: Facts) -> Any:
    return (
        np.asarray(facts.model.loss.value(facts.subject.y, facts.subject.scores))
        .reshape(len(facts.subject.rows), -1)
        .sum(axis=1)
    )


def _farthest(facts: Facts) -> str:
    return _listed(facts, np.argsort(-_loss(facts), kind="stable")[:MAX_ROWS])


def _nearest(facts: Facts) -> str:
    if not facts.of_classes:
        return ""
    eta = facts.subject.scores
    if eta.shape[1] == 1:
        lead = np.abs(eta[:, 0])
    else:
        ordered = np.sort(eta, axis=1)
        lead = ordered[:, -1] - ordered[:, -2]
    return _listed(facts, np.argsort(lead, kind="stable")[:MAX_ROWS])


def _listed(facts: Facts, places: Any) -> str:
    """Return rows with target, prediction and the columns that set them most apart from the typical row."""
    subject, model = facts.subject, facts.model
    lines = []
    for at in map(int, places):
        one = subject.design.slice(at, at + 1)
        offset = None if subject.offset is None else subject.offset[at : at + 1]
        predicted = np.asarray(model.predict(one, offset)).reshape(-1)[0]
        truth = subject.classes[int(subject.group[at])] if facts.of_classes else float(subject.y[at, 0])
        shown = predicted.item() if isinstance(predicted, np.generic) else predicted
        sure = _sure(facts, one, offset)
        lines.append((int(subject.rows[at]) + 1, truth, shown, *sure, _because(facts, at)))
    head = ("row", facts.model.target.name, "predicted", *(("probability",) if lines and len(lines[0]) == 5 else ()))
    return html.table((*head, "what sets it apart (part of the score)"), lines)


def _sure(facts: Facts, design: Any, offset: Any) -> tuple[float, ...]:
    try:
        return (float(facts.model.predict_proba(design, offset).max()),) if facts.of_classes else ()
    except LinealError:
        return ()


def _because(facts: Facts, at: int) -> str:
    """Return the largest contributions of a row against the typical row, in words."""
    try:
        parts: Contributions = parts_of_row(facts.subject, int(facts.subject.rows[at]), "typical")
    except LinealError:
        return "-"
    scores = facts.subject.scores[at]
    output = int(scores.argmax()) if facts.of_classes else 0
    named = parts.largest(0, min(output, parts.values.shape[2] - 1))[:PARTS]
    return ", ".join(f"{clean(name, 30)} {value:+.3g}" for name, value in named if value)


def _influential(facts: Facts) -> str:
    rows_of = facts.diagnosed
    far = rows_of.farthest(rows_of.known["cooks_distance"], MAX_ROWS)
    names = ("target", "mean", "leverage", "cooks_distance")
    lines = [(int(rows_of.rows[at]) + 1, *(float(rows_of.known[name][at]) for name in names)) for at in far]
    return html.table(("row", "target", "mean", "leverage", "Cook's distance"), lines)


def decisions(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield how probabilities become decisions, and what they cost."""
    if not facts.of_classes:
        yield html.sentence("A number is predicted, so nothing is decided.")
        return
    if reason := no_cost(facts.model):
        yield html.sentence(f"The class of largest score is decided; there is no curve of costs: {reason}")
        return
    yield html.sentence(
        "Unless told otherwise the more probable class is decided; lineal predict takes --threshold or --costs. The curve "
        "charges 1 for every mistake."
    )
    yield gallery.show(lambda: kind("cost").draw(facts.model, facts.measured))


def found(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield how the optimum was found, and the evidence."""
    solver = facts.about["model"]["solver"]
    evidence = facts.model.verdict.evidence
    yield html.facts([("Solver", solver["name"]), ("Why", solver["reason"]), ("Tolerance", f"{facts.model.tol:g}")])
    plain = [(name, repr(value)) for name, value in evidence.items() if isinstance(value, int | float | str)]
    yield html.table(("evidence", "value"), plain)
    if facts.trace is None:
        yield html.sentence(
            "The steps were not recorded: lineal fit ... --trace steps.parquet, then lineal report ... --trace steps.parquet."
        )
        return
    path = facts.trace
    yield gallery.show(lambda: kind("trace").draw(trace=[path]))


def unknown(facts: Facts) -> Iterator[str]:
    """Yield what nobody should read into this report."""
    model = facts.model
    told = []
    if not model.verdict.proven:
        told.append(f"Whether the coefficients are the best ones: {model.verdict.sentence}")
    if model.verdict.reason:
        told.append(f"Why there is no proof: {model.verdict.reason}")
    told += [f"{name.replace('_', ' ')}: {_short(value)}" for name, value in model.verdict.evidence.items()
             if name in ("dependencies", "remedies", "directions")]  # fmt: skip
    for words, ask in _statistics(facts):
        try:
            ask()
        except LinealError as error:
            told.append(f"{words}: {error}")
    held = bool(facts.about["metrics"].get("test"))
    told.append(
        "How it predicts rows of another source: held-out rows are drawn from the same table."
        if held
        else "How it predicts rows that were not fitted: none were held out."
    )
    told.append("Whether a column causes anything: coefficients say how columns go together in these rows.")
    told.append(
        "What training rows do not exercise, such as how an unknown level is read, is bound by the hash of the encoding, "
        "not proved (docs/model-file.md)."
    )
    yield html.sentences(told)


def _statistics(facts: Facts) -> list[tuple[str, Callable[[], object]]]:
    """Return what can be asked of a fit and may be refused."""
    from lineal.errors import InputError

    def influence() -> None:
        if reason := no_diagnosis(facts.model):
            raise InputError(reason)

    errors = [] if facts.model.variances is not None else [("Standard errors and p-values", facts.model.refuse_summary)]
    return [*errors, ("Leverage and influence of rows", influence)]


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value[:10]))
    return number(value) if isinstance(value, float) else str(value)


def provenance(facts: Facts) -> Iterator[str]:
    """Yield by what this report and its model are known."""
    from lineal import __version__

    training, meta = facts.model.training, facts.model.to_dict()
    shown = "no row" if not facts.rows else f"at most {facts.rows:,} rows of every class"
    yield html.facts(
        [
            ("Model file", f"{facts.files[0]}, SHA-256 {facts.sha256}"),
            ("Made by", str(meta["made_by"])),
            ("Reported by", f"lineal {__version__}, numpy {np.__version__}"),
            ("Rows fitted", f"{training.get('rows'):,}, fingerprint {training.get('fingerprint')}"),
            ("How cells are read", str(meta["encoding"])),
            ("Data in this page", f"{shown} of {facts.files[1]}"),
            *([("Date", facts.dated)] if facts.dated else []),
        ]
    )
