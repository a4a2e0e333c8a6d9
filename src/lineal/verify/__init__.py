"""The independent checker: it re-derives a verdict from the model file and the data, and trusts no code that made them.

Of lineal it imports `errors` and `container` (bytes to JSON and arrays) and nothing else.

What proves can be read in one sitting: `proof/bound.py` (how far from the optimum at most) and `proof/halfspaces.py` (which
classes can be separated). Each begins with its whole argument. Read in this order, and stop when you have seen enough:

1. `proof/`      the bound and the halfspaces; beside them what they stand on (`plan`, `basis`, `exact`), and the baseline fit
2. `losses/`     every loss with its dual points and what they cost; `problem/` the same for penalties, and F at a point
3. `arithmetic`  sums and products whose rounding error is bounded, and exact signs
4. `evidence/`   what a verdict of each kind states, line by line, with its sentence; `tolerances` says how far it may be off
5. `claims/`     the fields of a file, and the training rows it names; `terms/` how cells become columns
6. `maps/`       models whose columns are made of training rows: kernels, neighbors, generative models
7. `reading/`    data files, which rows were fitted, and their fingerprint
8. `search/`     where better points may be found: nothing that is proven depends on it
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import container
from lineal.errors import ModelFileError
from lineal.verify.claims.ground import field
from lineal.verify.claims.model import Claims, take_apart
from lineal.verify.claims.training import training_problem
from lineal.verify.evidence.labels import Labels, check_labels, shared_problem, take_labels
from lineal.verify.evidence.margins import check_margin
from lineal.verify.evidence.members import Committee, check_committee, take_committee
from lineal.verify.evidence.separability import FORMAT, Record, check_record, take_record
from lineal.verify.evidence.verdicts import check_verdict
from lineal.verify.maps import check_mapped, take_mapped
from lineal.verify.maps.claims import MapClaims
from lineal.verify.reading.joining import Other, gathered
from lineal.verify.reading.store import Watch, silent
from lineal.verify.report import Line, Refused, Report

__all__ = ["Line", "Refused", "Report", "verify"]


def verify(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    beside: Sequence[Other] = (),
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    rename: Mapping[str, str] | None = None,
    watch: Watch = silent,
) -> Report:
    """Check every claim of a model file (or separability record) against its data, and return the checked lines.

    The first claim that does not hold raises Refused, a VerificationError that carries the report so far. A damaged file
    raises ModelFileError, unreadable data InputError. ``delimiter``, ``quote`` and ``header`` are those of the data file,
    where the model's column names do not settle them, ``sheet`` that of a spreadsheet; ``beside`` are files with more
    columns, each with its key or None, and perhaps the name of its only column; ``rename`` has new names for columns of
    the data, from old to new. ``watch`` is called with what is going on and the share of it that is done. The data is
    read in blocks: memory does not grow with its
    rows, except where docs/verdicts.md says so.
    """
    report = Report(os.fspath(model), os.fspath(data))
    meta, arrays = container.read(model)
    report.check("the model file is whole and unaltered (SHA-256)", True)
    try:
        claims = _taken(meta, arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(model)} is refused: {error}") from None
    stated, computed = claims.encoding
    sealed = "how rows become numbers is what the stated hash names"
    if stated is None:
        report.check("no hash of how rows become numbers is stated (version 1)", True, computed)
    else:
        report.check(sealed, stated == computed, computed if stated == computed else f"{computed}, stated {stated}")
    names = claims.produced
    differing = [
        f"; {made!r}, stated {name!r}" for made, name in zip(names, claims.columns, strict=False) if made != name
    ]
    report.check(
        "the columns are those the terms make",
        names == claims.columns,
        "".join([f"{len(names)} columns, stated {len(claims.columns)}", *differing[:1]]),
    )
    table = gathered(
        data,
        claims.read,
        beside,
        delimiter=delimiter,
        quote=quote,
        header=header,
        sheet=sheet,
        rename=rename,
        marks=claims.marks,
    )
    with np.errstate(all="ignore"):  # numbers too large for doubles end in a line that fails, not in a warning
        try:
            if isinstance(claims, Record):
                space = check_record(report, claims, table, watch)
                if claims.margin is not None:
                    check_margin(report, space, claims.margin)
            elif isinstance(claims, Committee):
                check_committee(report, claims, table, watch)
            elif isinstance(claims, MapClaims):
                check_mapped(report, claims, table, watch)
            elif isinstance(claims, Labels):
                check_labels(report, claims, table, watch)
            else:
                posed = shared_problem if claims.labels else training_problem
                check_verdict(report, claims, posed(report, claims, table, watch))
        except np.linalg.LinAlgError as error:
            report.check("the figures can be computed", False, str(error))
        except Refused as error:
            if meta["version"] != 1:
                raise
            raise Refused(
                f"{error} The file is of version 1; lineal fit writes it anew, with all digits.", report
            ) from None
    return report


def _taken(
    meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> Claims | Record | Committee | Labels | MapClaims:
    """Return what a file claims: a separability record, a committee, labels, a model with a feature map or a model."""
    if meta["format"] == FORMAT:
        return take_record(meta)
    if "feature_map" in meta:
        return take_mapped(meta, arrays)
    if "members" not in meta:
        counted = field(meta, "verdict", dict).get("kind") == "exact"
        return take_mapped(meta, arrays) if counted else take_apart(meta, arrays)
    return take_committee(meta, arrays) if "multiclass" in meta else take_labels(meta, arrays)
