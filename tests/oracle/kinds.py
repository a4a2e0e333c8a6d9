"""Lies about every other kind of file: halfspaces, slopes, directions, dependencies, committees, separability records.

Each is untrue by what it says, and every number that follows from it is stated anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import flint
import numpy as np
from flint import arb

import lineal
from lineal.cli import run

from .files import File, restate, unpack
from .problem import BITS, exact
from .stationary import _likelihood

Lies = Iterator[tuple[str, File]]
ROWS = 24


def _rows(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes, which a gap of some width keeps apart."""
    draw = np.random.default_rng([seed, 9])
    x = draw.normal(size=(ROWS, 2)).round(2)
    y = (x[:, 0] + 0.5 * x[:, 1] + (0.0 if apart else draw.normal(size=ROWS)) > 0).astype(int)
    x[:, 0] += apart * (2 * y - 1)
    return x.round(2), y


def _fit(name: str, folder: Path, x: np.ndarray, y: Any, **given: Any) -> File:
    table = folder / f"{name}.csv"
    lines = ["x0,x1,y", *(f"{a!r},{b!r},{t}" for (a, b), t in zip(x.tolist(), y, strict=True))]
    table.write_text("\n".join(lines) + "\n")
    model = lineal.fit(table, "y", types={"x0": "number", "x1": "number"}, **given)
    path = folder / "honest.lineal"
    model.save(path)
    return File(*unpack(path), x, np.asarray(y), table)


def honest(name: str, folder: Path, seed: int) -> File:
    """Return the honest file of a kind."""
    apart = 1.0 if name in ("separated", "at infinity", "complete record") else 0.0
    x, codes = _rows(seed, apart)
    y = np.where(codes > 0, "yes", "no").tolist()
    if name in ("separated", "not separable"):
        return _fit(name, folder, x, y, model="perceptron")
    if name == "zero-one":
        return _fit(name, folder, x[:16], y[:16], model="zero-one", time_limit=20.0)
    if name == "firth":
        return _fit(name, folder, x, y, model="logistic", penalty="firth")
    if name == "at infinity":
        return _fit(name, folder, x, y, model="logistic", penalty="none")
    z = (x[:, 0] + np.random.default_rng(seed).normal(size=ROWS)).round(3)
    if name == "bayes":
        return _fit(name, folder, x, z.tolist(), model="bayes")
    if name == "not unique":
        x[:, 1] = 2.0 * x[:, 0]
        return _fit(name, folder, x, z.tolist(), model="linear", penalty="none")
    if name == "center":
        return _center(folder, seed)
    if name == "committee":
        labels = np.array(["a", "b", "c"])[np.random.default_rng([seed, 3]).integers(0, 3, size=ROWS)]
        return _fit(name, folder, x, labels.tolist(), model="logistic", penalty="ridge:0.1", multiclass="ovr")
    return _record(name, folder, x, y)


def _center(folder: Path, seed: int) -> File:
    """Return the file of an estimator that predicts through a center."""
    draw = np.random.default_rng([seed, 4])
    x = np.column_stack([4e15 + draw.permutation(np.arange(20.0)), draw.normal(size=20).round(2)])
    y = (draw.permutation(20) + x[:, 1]).round(2)
    table, path = folder / "center.csv", folder / "honest.lineal"
    lines = ["x0,x1,y", *(f"{a!r},{b!r},{t!r}" for (a, b), t in zip(x.tolist(), y.tolist(), strict=True))]
    table.write_text("\n".join(lines) + "\n")
    lineal.Ridge(alpha=2.0).fit(x, y).model_.save(path)
    return File(*unpack(path), x, y, table)


def _record(name: str, folder: Path, x: np.ndarray, y: list[str]) -> File:
    table, path = folder / f"{name}.csv", folder / "honest.lineal"
    lines = ["x0,x1,y", *(f"{a!r},{b!r},{t}" for (a, b), t in zip(x.tolist(), y, strict=True))]
    table.write_text("\n".join(lines) + "\n")
    with redirect_stdout(StringIO()):
        run(["separable", str(table), "--target", "y", "-o", str(path)])
    return File(*unpack(path), x, np.asarray(y), table)


# ---------------------------------------------------------------- lies


def _swapped(file: File, old: str, new: str) -> None:
    verdict = file.meta["verdict"]
    verdict["sentence"] = verdict["sentence"].replace(old, new)


def _separated(file: File) -> Lies:
    evidence = file.meta["verdict"]["evidence"]
    wide = file.copy()
    wide.meta["verdict"]["evidence"]["margin"] = 2 * evidence["margin"]
    _swapped(wide, f"margin {evidence['margin']:.4g}", f"margin {2 * evidence['margin']:.4g}")
    yield "twice the margin", wide
    turned = file.copy()
    turned.arrays["coef"] = -turned.arrays["coef"]
    turned.meta["verdict"]["evidence"]["w"] = [[-v for v in row] for row in evidence["w"]]
    yield "the separator turned around", turned
    other = file.copy()
    other.arrays["coef"] = -other.arrays["coef"]
    yield "coefficients that mistake every row", other
    far = file.copy()
    far.meta["verdict"]["evidence"]["radius"] = evidence["radius"] / 2
    _swapped(far, f"R = {evidence['radius']:.4g}", f"R = {evidence['radius'] / 2:.4g}")
    yield "half the radius", far
    few = file.copy()
    few.meta["verdict"]["evidence"]["w"] = [[0.0] for _ in evidence["w"]]
    yield "a separator of zeros", few


def _not_separable(file: File) -> Lies:
    evidence = file.meta["verdict"]["evidence"]
    for words, weights in (
        ("a weight larger by one", [str(int(evidence["weights"][0]) + 1), *evidence["weights"][1:]]),
        ("weights of zero", ["0"] * len(evidence["weights"])),
        ("negative weights", [str(-int(v)) for v in evidence["weights"]]),
    ):
        forged = file.copy()
        forged.meta["verdict"]["evidence"]["weights"] = weights
        yield words, forged
    fewer = file.copy()
    fewer.meta["verdict"]["evidence"] |= {"rows": evidence["rows"][1:], "weights": evidence["weights"][1:]}
    _swapped(fewer, f"{len(evidence['rows'])} rows prove", f"{len(evidence['rows']) - 1} rows prove")
    yield "a row of the witness left out", fewer
    better = file.copy()
    better.meta["verdict"]["evidence"]["model_mistakes"] = 0
    _swapped(better, f"those kept mistake {evidence['model_mistakes']} rows", "those kept mistake 0 rows")
    if evidence["model_mistakes"]:
        yield "no mistake", better


def _zero_one(file: File) -> Lies:
    evidence, rows = file.meta["verdict"]["evidence"], len(file.y)
    made = evidence["mistakes"]
    for words, change in (("one mistake fewer", -1.0), ("one mistake more", 1.0)):
        forged = file.copy()
        own = forged.meta["verdict"]["evidence"]
        own |= dict.fromkeys(("objective", "lower_bound"), (made + change) / rows)
        own |= {"mistakes": made + change, "least": made + change}
        _swapped(forged, f"fewer than {made:g} of", f"fewer than {made + change:g} of")
        yield words, forged
    if evidence["cuts"]:
        bare = file.copy()
        bare.meta["verdict"]["evidence"]["cuts"] = []
        sentence = bare.meta["verdict"]["sentence"]
        bare.meta["verdict"]["sentence"] = sentence[: sentence.index("; proven by")] + "; proven)."
        yield "no proof", bare
    turned = file.copy()
    turned.arrays["coef"] = -turned.arrays["coef"]
    yield "the halfspace turned around", turned


def _firth(file: File) -> Lies:
    verdict = file.meta["verdict"]
    for size in (1e-1, 1e-3, 1e-5):
        forged = file.copy()
        forged.arrays["coef"] = forged.arrays["coef"] + size
        with flint.ctx.workprec(BITS):
            claim, total = forged.claim(), arb(len(file.y))
            value = -_likelihood(claim.problem, total, [row[0] for row in exact(claim.coef)]) / total
        forged.meta["verdict"]["evidence"] |= {"objective": float(value), "slope_norm": 0.0}
        _swapped(forged, f"norm {verdict['evidence']['slope_norm']:.2g}", "norm 0")
        yield f"coefficients off by {size:g}", forged


def _bayes(file: File) -> Lies:
    for size in (1.1, 1.0001):
        forged = file.copy()
        for name in ("noise", "prior"):  # their quotient, and so the ridge, is as it was
            forged.meta["verdict"]["evidence"][name] *= size
        yield f"variances {size:g} times as large", forged
    forged = file.copy()
    forged.arrays["coef"] = forged.arrays["coef"] * 0.999
    yield "coefficients shrunk", forged
    wide = file.copy()
    wide.meta["verdict"]["evidence"]["log_evidence"] += 0.01
    yield "more evidence", wide


def _infinity(file: File) -> Lies:
    evidence = file.meta["verdict"]["evidence"]
    turned = file.copy()
    own = turned.meta["verdict"]["evidence"]
    own["direction"] = {name: str(-int(v)) if isinstance(v, str) else -v for name, v in evidence["direction"].items()}
    own["plus"], own["minus"] = evidence["minus"], evidence["plus"]
    turned.arrays["direction"] = -turned.arrays["direction"]
    yield "the direction turned around", turned
    more = file.copy()
    more.meta["verdict"]["evidence"]["strict_rows"] += 1
    yield "a strict row more", more


def _dependency(file: File) -> Lies:
    for words, factor in (("a dependency of other weights", 1.5), ("a dependency off by 1e-9", 1 + 1e-9)):
        forged = file.copy()
        own = forged.meta["verdict"]["evidence"]["dependencies"][0]
        name = sorted(own)[0]
        own[name] *= factor
        forged.arrays["null_space"][forged.meta["columns"].index(name), 0] *= factor
        yield words, forged
    unique = file.copy()
    verdict = unique.meta["verdict"]
    verdict["kind"] = "optimal"
    del verdict["evidence"]["dependencies"], unique.arrays["null_space"]
    figures = f"gap {verdict['gap']:.2g}, proven"
    verdict["sentence"] = (
        f"Optimal: the loss cannot be improved by more than {100 * verdict['relative_gap']:.2g} % ({figures})."
    )
    yield "unique after all", unique


def _committee(file: File) -> Lies:
    code = file.copy()
    words = code.meta["multiclass"]["code"]
    code.meta["multiclass"]["code"] = [[-v for v in row] for row in words]
    yield "every question turned around", code
    for size in (0.5, 1e-3):
        forged = file.copy()
        forged.arrays["0.coef"][1:] *= 1 - size
        member = forged.meta["members"][0]
        shown = {"tol": forged.meta["tol"], "columns": forged.meta["columns"], **member}
        arrays = {name[2:]: array for name, array in forged.arrays.items() if name.startswith("0.")}
        own = File(shown, arrays, file.x, np.where(file.y == "a", "True", "False"), file.table)
        before = member["verdict"]["sentence"]
        restate(own, gap=0.0)
        if forged.meta["verdict"]["evidence"]["worst"] != 0:
            yield f"a member shrunk by {size:g}", forged
        else:
            forged.meta["verdict"] |= {"gap": 0.0, "relative_gap": 0.0}
            sentence = forged.meta["verdict"]["sentence"]
            forged.meta["verdict"]["sentence"] = sentence.replace(before, member["verdict"]["sentence"])
            yield f"the worst member shrunk by {size:g}", forged


def _centered(file: File) -> Lies:
    moved = file.copy()
    moved.arrays["center"][1] += 1.0
    yield "another center", moved
    bare = file.copy()
    del bare.arrays["center"]
    yield "no center", bare
    wrong = file.copy()
    wrong.arrays["coef"][1:] *= 0.9
    restate(wrong, gap=0.0)
    yield "coefficients shrunk, gap 0", wrong


def _answer(file: File) -> Lies:
    now, witness = file.meta["kind"], file.meta["witness"]
    for kind in ("complete", "quasi", "overlap"):
        if kind != now:
            forged = file.copy()
            forged.meta["kind"] = kind
            yield f"{kind} instead of {now}", forged
    for name in ("direction", "weights"):
        if witness[name]:
            forged = file.copy()
            forged.meta["witness"][name] = _negated(witness[name])
            yield f"{name} negated", forged
    if witness["weights"]:
        forged = file.copy()
        first = witness["weights"][0]
        forged.meta["witness"]["weights"][0] = str(int(first) + 1) if isinstance(first, str) else first + 1
        yield "a weight larger by one", forged
    fewer = file.copy()
    fewer.meta["strict_rows"] += 1
    yield "a strict row more", fewer


def _negated(value: Any) -> Any:
    if isinstance(value, list):
        return [_negated(v) for v in value]
    return str(-int(value)) if isinstance(value, str) else -value


LIES: dict[str, Callable[[File], Lies]] = {
    "separated": _separated,
    "not separable": _not_separable,
    "zero-one": _zero_one,
    "firth": _firth,
    "bayes": _bayes,
    "at infinity": _infinity,
    "not unique": _dependency,
    "center": _centered,
    "committee": _committee,
    "complete record": _answer,
    "overlap record": _answer,
}
"""Kind of file -> what is said of it that is not so."""
