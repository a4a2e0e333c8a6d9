"""Honest separability records, written by hand from docs/separability.md, and their forgeries."""

from __future__ import annotations

import math

from .forging import mutation
from .honest import Case, fingerprint

HUGE = 10**40


def record(
    header: list[str], rows: list[str], kind: str, sentence: str, strict: int, witness: dict, weight=None
) -> Case:
    """Return a record of number columns and the class in the last column (but for the weight)."""
    cells = [row.split() for row in rows]
    case = Case(header, cells)
    names = [name for name in header[:-1] if name != weight]
    everything = list(range(len(cells)))
    typed = {name: ("n" if name != header[-1] else "t", case.column(name, everything)) for name in header}
    terms = []
    for name in names:
        values = [float(cell) for cell in case.column(name, everything)]
        terms.append({"kind": "number", "column": name, "fill": sum(values) / len(values), "indicator": False})
    weights = [1.0] * len(cells) if weight is None else [float(cell) for cell in case.column(weight, everything)]
    case.meta = {
        "format": "lineal-separability",
        "version": 1,
        "made_by": "by hand",
        "kind": kind,
        "sentence": sentence,
        "columns": ["(intercept)", *names],
        "target": {"name": header[-1], "kind": "classes", "classes": sorted({row[-1] for row in cells}), "names": None},
        "encoder": {"intercept": True, "terms": terms},
        "roles": {"weight": weight, "offset": None},
        "training": {
            "rows": sum(w > 0 for w in weights),
            "weight_sum": sum(weights),
            "without_target": 0,
            "split": None,
            "fingerprint": fingerprint(typed),
        },
        "strict_rows": strict,
        "witness": {"direction": None, "rows": None, "weights": None, "against": None, **witness},
    }
    return case


def conjunction() -> Case:
    """AND: -3 + 2 a + 2 b."""
    rows = ["0 0 no", "0 1 no", "1 0 no", "1 1 yes"]
    direction = {"direction": [[-3], [2], [2]]}
    return record(
        ["a", "b", "c"],
        rows,
        "complete",
        "Completely separable: a, b separate all 4 rows without a mistake.",
        4,
        direction,
    )


def widest() -> Case:
    """AND with the widest margin: w = (-3, 2, 2) of length sqrt 17; 5, 5 and 7 times the three nearest rows add up to w."""
    case, root = conjunction(), math.sqrt(17.0)
    case.meta["margin"] = {
        "gamma": 1 / root,
        "gamma_upper": 1 / root,
        "R": math.sqrt(3.0),
        "B": root,
        "bound": 51.0,
        "coef": [[-3 / root], [2 / root], [2 / root]],
        "rows": [1, 2, 3],
        "against": None,
        "weights": [5, 5, 7],
        "augmented": True,
    }
    return case


def by_a_hair() -> Case:
    """AND again, by a boundary that passes so near to (1, 1) that doubles do not see it."""
    case = conjunction()
    case.meta["witness"]["direction"] = [[str(-2 * HUGE)], [str(HUGE)], [str(HUGE + 1)]]
    return case


def parity() -> Case:
    """XOR: the four corners, each once, cancel."""
    rows = ["0 0 no", "0 1 yes", "1 0 yes", "1 1 no"]
    witness = {"rows": [0, 1, 2, 3], "weights": [1, 1, 1, 1]}
    return record(
        ["a", "b", "c"],
        rows,
        "overlap",
        (
            "Overlap: no halfspace separates any rows without a mistake on others, proven by 4 rows (numbers 0,"
            " 1, 2, 3) whose weighted sum is zero."
        ),
        0,
        witness,
    )


def dummy() -> Case:
    """a = 1 occurs only with yes; the other rows are in pairs of both classes. The last row has no weight."""
    rows = ["0 1 1 no", "0 1 1 yes", "0 2 1 no", "0 2 2 yes", "1 5 1 yes", "1 3 0.5 yes", "1 4 0 no"]
    witness = {"direction": [[0], [7], [0]], "rows": [0, 1, 2, 3], "weights": [1, 1, 5, 5]}
    sentence = "Quasi-completely separable: `a = 1` occurs only with c = yes (2 rows). The other rows overlap."
    return record(["a", "b", "w", "c"], rows, "quasi", sentence, 2, witness, "w")


def three() -> Case:
    """All three classes at each of two places: around each place the comparisons cancel in a circle."""
    rows = ["0 x", "0 y", "0 z", "2 x", "2 y", "2 z"]
    witness = {"rows": list(range(6)), "weights": [2, 2, 2, 1, 1, 1], "against": [1, 2, 0, 1, 2, 0]}
    return record(
        ["a", "c"],
        rows,
        "overlap",
        (
            "Overlap: no halfspace separates any rows without a mistake on others, proven by 6 rows (numbers 0,"
            " 1, 2, 3 and 2 more) whose weighted sum is zero."
        ),
        0,
        witness,
    )


CASES = {
    "record and": conjunction,
    "record by a hair": by_a_hair,
    "record widest": widest,
    "record xor": parity,
    "record dummy": dummy,
    "record three": three,
}


def reworded(case: Case, kind: str) -> None:
    """Claim another answer, sentence and all."""
    begin = {"complete": "Completely separable: ", "quasi": "Quasi-completely separable: ", "overlap": "Overlap: "}
    case.meta.update(kind=kind, sentence=begin[kind] + "a.")


@mutation("record widest", "weights of length 1 reach")
def record_margin_raised(case):
    case.meta["margin"].update(gamma=0.25, gamma_upper=0.25)


@mutation("record widest", "larger margin than the sum of these rows allows")
def record_margin_of_other_weights(case):
    case.meta["margin"]["weights"] = [1, 1, 1]


@mutation("record widest", "follows from radius and margin")
def record_bound_lowered(case):
    case.meta["margin"]["bound"] = 17.0


@mutation("record and", "no row on the wrong side")
def record_direction_altered(case):
    case.meta["witness"]["direction"][0] = [-1]


@mutation("record by a hair", "no row on the wrong side")
def record_direction_altered_by_less_than_a_double_shows(case):
    case.meta["witness"]["direction"][2] = [str(HUGE - 1)]


@mutation("record and", "the answer is what this proves")
def record_boundary_moved_onto_a_row(case):
    case.meta["witness"]["direction"] = [[-4], [2], [2]]
    case.meta["strict_rows"] = 3


@mutation("record and", "strictly on its side")
def record_strict_rows_altered(case):
    case.meta["strict_rows"] = 3


@mutation("record and", "the answer is what this proves")
def record_complete_called_quasi(case):
    reworded(case, "quasi")


@mutation("record and", "the answer is what this proves")
def record_complete_called_overlap_without_proof(case):
    reworded(case, "overlap")
    case.meta.update(strict_rows=0)
    case.meta["witness"]["direction"] = None


@mutation("record and", "the sentence is the one")
def record_sentence_of_another_answer(case):
    case.meta["sentence"] = "Overlap: a, b."


@mutation("record xor", "is zero \\(exact\\)")
def record_weight_altered(case):
    case.meta["witness"]["weights"][2] = 2


@mutation("record xor", "is zero \\(exact\\)")
def record_weight_altered_by_a_hair(case):
    case.meta["witness"]["weights"] = [str(HUGE)] * 3 + [str(HUGE + 1)]


@mutation("record xor", "is zero \\(exact\\)")
def record_weights_zero(case):
    case.meta["witness"]["weights"] = [0, 0, 0, 0]


@mutation("record three", "is zero \\(exact\\)")
def record_weight_below_zero(case):
    case.meta["witness"]["weights"] = [2, 2, 2, -1, -1, -1]


@mutation("record xor", "is zero \\(exact\\)")
def record_row_dropped(case):
    for name in ("rows", "weights"):
        case.meta["witness"][name].pop()


@mutation("record xor", "rows of the sum are training rows")
def record_row_that_is_not_there(case):
    case.meta["witness"]["rows"][0] = 4


@mutation("record dummy", "rows of the sum are training rows")
def record_row_without_weight(case):
    case.meta["witness"]["rows"][0] = 6


@mutation("record xor", "rows of the sum are training rows")
def record_sum_of_no_rows(case):
    case.meta["witness"].update(rows=[], weights=[])


@mutation("record dummy", "combination of these rows")
def record_sum_that_spans_too_little(case):
    case.meta["witness"].update(rows=[0, 1], weights=[1, 1])


@mutation("record xor", "the answer is what this proves")
def record_overlap_called_quasi(case):
    reworded(case, "quasi")


@mutation("record xor", "the answer is what this proves")
def record_overlap_called_complete(case):
    reworded(case, "complete")


@mutation("record dummy", "the answer is what this proves")
def record_quasi_called_complete(case):
    reworded(case, "complete")


@mutation("record dummy", "combination of these rows")
def record_quasi_called_overlap(case):
    reworded(case, "overlap")
    case.meta["strict_rows"] = 0
    case.meta["witness"]["direction"] = None


@mutation("record dummy", "no row on the wrong side")
def record_direction_reversed(case):
    case.meta["witness"]["direction"] = [[0], [-7], [0]]


@mutation("record dummy", "the answer is what this proves")
def record_quasi_without_its_sum(case):
    case.meta["witness"].update(rows=None, weights=None)


@mutation("record three", "compared with another class")
def record_compared_with_its_own_class(case):
    case.meta["witness"]["against"][0] = 0


@mutation("record three", "compared with another class")
def record_compared_with_nothing(case):
    case.meta["witness"]["against"] = None


@mutation("record three", "is zero \\(exact\\)")
def record_compared_with_a_third_class(case):
    case.meta["witness"]["against"][0] = 2


@mutation("record dummy", "fingerprint")
def data_cell_of_a_record_altered(case):
    case.rows[0][1] = "1.5"


@mutation("record dummy", "is zero \\(exact\\)|every number term")
def data_cell_of_a_record_altered_no_fingerprint(case):
    case.meta["training"]["fingerprint"] = None
    case.rows[0][1], case.rows[5][1] = "1.25", "2.75"


@mutation("record and", "no row on the wrong side")
def data_label_of_a_record_altered_no_fingerprint(case):
    case.meta["training"]["fingerprint"] = None
    case.rows[0][2] = "yes"


@mutation("record and", "the classes are those")
def record_classes_exchanged_for_others(case):
    case.meta["target"]["classes"] = ["no", "maybe"]
