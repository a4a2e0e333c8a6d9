"""A kernel machine of texts or trees: the texts in the file are those of the data, and its verdict is proven from all of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.claims.ground import field
from lineal.verify.claims.training import Examples
from lineal.verify.maps import text_kernels
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.kernel import Rows, Stated, check_claims, check_form, check_places, check_used, columns, taken
from lineal.verify.report import Report
from lineal.verify.terms.verbatim import texts

__all__ = ["check", "columns"]


def check(report: Report, claims: MapClaims, rows: Examples) -> None:
    """Check the texts in the file, and what the verdict says of the coefficients."""
    stated, gathered = check_ground(report, claims, rows)
    check_used(report, claims)
    check_claims(report, claims, stated, gathered)


def check_ground(report: Report, claims: MapClaims, rows: Examples) -> tuple[Stated, Rows]:
    """Check the texts in the file."""
    given = {"map": dict(claims.parameters)}
    stated = taken(claims, {"kernel", "numbers", "input", "width", "strength"}, text_kernels.take)
    column, width = field(given, "map.input", str), field(given, "map.width", int)
    read = [(term["kind"], term["column"], term["width"]) for term in claims.terms if term["kind"] == "verbatim"]
    alone = len(claims.terms) == 1 and read == [("verbatim", column, width)]
    report.check("the kernel compares one column of texts as they are", alone, repr(column))
    check_form(report, claims, stated, [f"{column}[{place}]" for place in range(width)])
    first = int(claims.intercept)
    blocks = [
        (texts(block["x"][:, first:]), block["target"], block["weight"], block["numbers"]) for block in rows.store
    ]
    points = np.array([text for block in blocks for text in block[0]], dtype=object)
    y, weight, places = (np.concatenate([block[k] for block in blocks]) for k in (1, 2, 3))
    at = check_places(report, stated, places.astype(np.intp))
    same = _held(claims, len(stated.numbers)) == points[at].tolist()
    report.check("the texts in the file are those of the data", same, f"{len(at)} texts")
    return stated, Rows(points, y, weight, at)


def _held(claims: MapClaims, count: int) -> list[str]:
    """Return the texts of the file."""
    data, starts = claims.arrays.get("texts"), claims.arrays.get("starts")
    if data is None or starts is None or len(claims.arrays) != 2 or data.dtype != np.uint8 or data.ndim != 1:
        raise ModelFileError("the arrays of the feature map do not have the names or types they must have.")
    fine = starts.dtype == np.int64 and starts.shape == (count + 1,) and starts[0] == 0 and starts[-1] == len(data)
    if not fine or np.any(np.diff(starts) < 0):
        raise ModelFileError("map.starts must increase from 0 to the length of map.texts.")
    whole = data.tobytes()
    try:
        return [whole[a:b].decode(errors="surrogatepass") for a, b in pairwise(starts.tolist())]
    except UnicodeDecodeError:
        raise ModelFileError("map.texts is not UTF-8.") from None
