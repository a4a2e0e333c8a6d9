"""Model files read and signed by docs/model-file.md alone, and whether what they say is true."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import lineal

from .doors import Claim
from .judge import EPS, Truth, score_noise, truth
from .losses import NUMBERS, Loss
from .problem import Penalty, exact, pose

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}
LARGEST_TOL = 1e-2
"""A tolerance above this makes the word "optimal" a lie."""


def canonical(value: object) -> bytes:
    """Return the one JSON text of plain data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


@dataclass
class File:
    """What a model file holds, and the rows it was fitted on."""

    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]
    x: np.ndarray
    y: np.ndarray
    table: Path
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None
    everything: tuple[np.ndarray, np.ndarray] = field(default=(np.empty(0), np.empty(0)), repr=False)
    truths: dict[bytes, Truth] = field(default_factory=dict)

    def copy(self) -> File:
        """Return a copy to alter; the rows and what is known about them are shared."""
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        return replace(self, meta=copy.deepcopy(self.meta), arrays=arrays)

    def claim(self) -> Claim:
        """Return what the file claims, in the oracle's words."""
        meta, arrays = self.meta, self.arrays
        coef, verdict = arrays["coef"], meta["verdict"]
        known = {name: value for name, value in meta["loss"].items() if name in ("q", "threshold", "epsilon")}
        loss = Loss(meta["loss"]["name"], coef.shape[1], **known)
        spelled = meta["penalty"]
        inner = spelled.get("inner", spelled)
        penalty = Penalty.of(
            inner["name"], len(coef), inner, arrays.get("charges"), arrays.get("lower"), arrays.get("upper")
        )
        y = self.y
        if loss.name not in NUMBERS:
            y = np.array([[str(name) for name in meta["target"]["classes"]].index(str(label)) for label in y])
        intercept = meta["columns"][0] == "(intercept)"
        problem = pose(
            self.x,
            y,
            loss,
            penalty,
            intercept=intercept,
            weight=self.weight,
            offset=self.offset,
            center=arrays.get("center"),
        )
        stated = lineal.Verdict.from_dict(verdict)
        return Claim(stated, coef, problem, tuple(meta["columns"]), None, meta["tol"], meta["target"]["classes"])

    def truth(self) -> Truth:
        """Return the oracle's minimum, computed once for every set of coefficients."""
        key = self.arrays["coef"].tobytes() + canonical(
            [self.meta["loss"], self.meta["penalty"], len(self.y), float(self.x.sum())]
        )
        if key not in self.truths:
            self.truths[key] = truth(self.claim())
        return self.truths[key]


def unpack(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the JSON of a model file, its SHA-256 taken off, and its arrays."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    meta = json.loads(header.pop("__metadata__")["lineal"])
    del meta["sha256"]
    body = data[8 + length :]
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(body[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    return meta, arrays


def sign(path: Path, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a model file whose SHA-256 fits what it holds."""
    names = {np.dtype(kind): name for name, kind in TYPES.items()}
    table, body = {}, b""
    for name in sorted(arrays):
        piece = np.ascontiguousarray(arrays[name]).tobytes()
        kind = names[arrays[name].dtype]
        table[name] = {
            "dtype": kind,
            "shape": list(arrays[name].shape),
            "data_offsets": [len(body), len(body) + len(piece)],
        }
        body += piece
    digest = hashlib.sha256(canonical(meta) + canonical(table) + body).hexdigest()
    header = canonical({"__metadata__": {"lineal": canonical({**meta, "sha256": digest}).decode()}, **table})
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + body)


def seal(meta: dict[str, Any]) -> None:
    """State the hash of how rows become numbers anew."""
    parts = {name: meta[name] for name in ("columns", "encoder", "roles", "target")}
    meta["encoding"] = "sha256:" + hashlib.sha256(canonical(parts)).hexdigest()


def untrue(file: File) -> str | None:
    """Return what is false in the verdict of a file, or None; only what exceeds every slack of the checker counts.

    The slack is that of docs/verdicts.md, four times: 1e-12 of the larger of F and what there is to gain; and rounding of scores.
    """
    found, claim, verdict = file.truth(), file.claim(), file.meta["verdict"]
    evidence = verdict["evidence"]
    size = max(abs(float(found.here)), found.gain)
    slack = (
        4e-12 * size
        + 4 * score_noise(claim.problem, exact(claim.coef)) ** 2 / max(size, 1e-300)
        + 64 * EPS * EPS * abs(float(found.baseline.value))
    )
    if found.excess > verdict["gap"] * (1 + 1e-9) + slack:
        return f"gap {verdict['gap']:.3g}, truth {found.excess:.3g} of {found.gain:.3g} to gain"
    if abs(evidence["objective"] - float(found.here)) > 1e-9 * size:
        return f"objective {evidence['objective']!r}, truth {float(found.here)!r}"
    if verdict["kind"] == "optimal":
        if not evidence["tol"] <= LARGEST_TOL:
            return f"optimal at tol {evidence['tol']:g}"
        # where what there is to gain cannot be seen either, a gap that doubles cannot see counts as zero (docs/verdicts.md)
        dust = found.gain <= slack and verdict["gap"] <= 4e-11 * abs(float(found.baseline.value))
        if (
            verdict["gap"] > (evidence["tol"] + 1e-3) * max(found.gain, slack)
            and claim.problem.loss.name != "crammer-singer"
            and not dust
        ):
            return f"optimal with gap {verdict['gap']:.3g} of {found.gain:.3g} to gain"
    return None


def restate(file: File, *, gap: float | None = None, tol: float | None = None, baseline: float | None = None) -> None:
    """State objective, gap and everything that follows from them anew, each figure in agreement with all others."""
    verdict, evidence = file.meta["verdict"], file.meta["verdict"]["evidence"]
    before = f"gap {verdict['gap']:.2g}", f"{100 * verdict['relative_gap']:.2g} %"
    evidence["objective"] = float(file.truth().here)
    verdict["gap"] = verdict["gap"] if gap is None else gap
    evidence["null_objective"] = evidence["null_objective"] if baseline is None else baseline
    evidence["lower_bound"] = evidence["objective"] - verdict["gap"]
    left = evidence["null_objective"] - evidence["lower_bound"]
    verdict["relative_gap"] = verdict["gap"] / left if left > 0 else 0.0
    if tol is not None:
        evidence["tol"] = file.meta["tol"] = tol
    if "radius" in evidence:
        evidence["radius"] = math.sqrt(2 * verdict["gap"] / file.meta["penalty"]["strength"])
    now = f"gap {verdict['gap']:.2g}", f"{100 * verdict['relative_gap']:.2g} %"
    for old, new in zip(before, now, strict=True):
        verdict["sentence"] = verdict["sentence"].replace(old, new)
