"""Honest perceptrons, computed by hand from docs/verdicts.md, and their forgeries."""

from __future__ import annotations

import math

import numpy as np

from .forging import mutation, verdict
from .honest import Case
from .records import HUGE, conjunction, parity, record

ABOUT = {"variant": "plain", "start": "zero", "mistakes": 10, "epochs": 7, "model_mistakes": 0}
ROOT = math.sqrt(17.0)


def perceptron(base: Case, coef: list[list[float]], kind: str, sentence: str, tie: str, evidence: dict) -> Case:
    """Return a model file of the rows of a record."""
    meta = base.meta
    for name in ("kind", "sentence", "strict_rows", "witness"):
        del meta[name]
    number = {"mistake": 0.0, "positive": 1.0, "negative": -1.0}[tie]
    meta |= {
        "format": "lineal-model",
        "loss": {"name": "perceptron", "outputs": len(coef[0]), "tie": number},
        "penalty": {"name": "none"},
        "tol": 1e-6,
        "verdict": {
            "kind": kind,
            "sentence": sentence,
            "gap": None,
            "relative_gap": None,
            "reason": None,
            "evidence": {**ABOUT, "tie": tie, **evidence},
        },
        "solver": {"name": "perceptron", "reason": ""},
        "report": {},
    }
    base.arrays = {"coef": np.array(coef, dtype=float)}
    return base


WHY = "no epoch of 7 was without a mistake, and the oracle was not asked"


def separated() -> Case:
    """AND by the widest margin there is: w = (-3, 2, 2), whose length is sqrt 17; the dual weights are 5, 5 and 7."""
    w = [[-3.0], [2.0], [2.0]]
    widest = {
        "gamma": 1 / ROOT,
        "gamma_upper": 1 / ROOT,
        "R": math.sqrt(3.0),
        "B": ROOT,
        "bound": 51.0,
        "coef": [[value[0] / ROOT] for value in w],
        "rows": [1, 2, 3],
        "against": None,
        "weights": [5, 5, 7],
        "augmented": True,
    }
    evidence = {"w": w, "strict": True, "margin": 1 / ROOT, "radius": math.sqrt(3.0), "by": "perceptron"}
    evidence |= {"maximum_margin": widest, "within_bound": True}
    return perceptron(
        conjunction(),
        w,
        "separated",
        (
            "Separated: no training mistake, after 10 mistakes in 7 epochs; margin 0.2425, R = 1.732. With the"
            " maximum margin gamma"
            " = 0.2425 (B = 1/gamma), R^2/gamma^2 = (RB)^2 = 51, and indeed 10 mistakes <= 51."
        ),
        "mistake",
        evidence,
    )


def on_the_boundary() -> Case:
    """AND with (1, 1) on the boundary, which counts as the later class, yes."""
    w = [[-2.0], [1.0], [1.0]]
    evidence = {"w": w, "strict": False, "margin": 0.0, "radius": math.sqrt(3.0), "by": "perceptron"}
    return perceptron(
        conjunction(),
        w,
        "separated",
        (
            "Separated: no training mistake, after 10 mistakes in 7 epochs; some rows lie on the boundary, which"
            " counts as the later"
            " class, R = 1.732."
        ),
        "positive",
        evidence,
    )


def averaged() -> Case:
    """An average that mistakes the row (1, 1), beside weights that do not."""
    w = [[-3.0], [2.0], [2.0]]
    evidence = {
        "w": w,
        "strict": True,
        "margin": 1 / ROOT,
        "radius": math.sqrt(3.0),
        "by": "oracle",
        "model_mistakes": 1,
    }
    coef = [[-5.0], [2.0], [2.0]]
    return perceptron(
        conjunction(),
        coef,
        "separated",
        (
            "Separated: no training mistake, with weights of the exact oracle, since no epoch of 7 was without a mistake"
            " (10 mistakes); margin 0.2425, R = 1.732. The averaged weights of the model mistake 1 row."
        ),
        "mistake",
        {**evidence, "variant": "averaged"},
    )


def inseparable() -> Case:
    """XOR: the corners cancel; zero weights mistake all of them."""
    evidence = {"rows": [0, 1, 2, 3], "weights": [1, 1, 1, 1], "against": None, "radius": math.sqrt(3.0)}
    evidence |= {"model_mistakes": 4, "largest_norm": 2.0, "repeated_state": [0, 1]}
    return perceptron(
        parity(),
        [[0.0], [0.0], [0.0]],
        "not_separable",
        (
            "Not separable: the weights after epoch 1 are those at the start again, so that the same 1 epoch"
            " would follow for ever, "
            "and 4 rows prove that no weights put every row strictly on its own side (times whole weights, they"
            " add up to zero). "
            "The weights of a perceptron stay bounded and never settle; those kept mistake 4 rows."
        ),
        "mistake",
        evidence,
    )


def three() -> Case:
    """Classes at 0, 1 and 2 by the scores 0, a - 1/2 and 2 a - 2: the least difference is 1/2."""
    base = record(["a", "c"], ["0 x", "1 y", "2 z"], "complete", "Completely separable: a.", 3, {})
    w = [[0.0, -0.5, -2.0], [0.0, 1.0, 2.0]]
    evidence = {"w": w, "strict": True, "margin": 0.5 / math.sqrt(9.25), "radius": math.sqrt(5.0), "by": "perceptron"}
    return perceptron(
        base,
        w,
        "separated",
        "Separated: no training mistake, after 10 mistakes in 7 epochs; margin 0.1644, R = 2.236.",
        "negative",
        evidence,
    )


def undecided() -> Case:
    evidence = {"radius": math.sqrt(3.0), "model_mistakes": 4, "largest_norm": 2.0, "repeated_state": None}
    case = perceptron(parity(), [[0.0], [0.0], [0.0]], "budget", f"Not decided: {WHY}.", "mistake", evidence)
    verdict(case)["reason"] = WHY
    return case


CASES = {
    "perceptron": separated,
    "perceptron on the boundary": on_the_boundary,
    "perceptron averaged": averaged,
    "perceptron inseparable": inseparable,
    "perceptron of three": three,
    "perceptron undecided": undecided,
}


def evidence_of(case: Case) -> dict:
    return verdict(case)["evidence"]


@mutation("perceptron", "mistakes as many training rows as stated|mistakes no training row")
def perceptron_weights_altered(case):
    evidence_of(case)["w"][0] = [-1.0]


@mutation("perceptron", "mistakes as many training rows as stated")
def perceptron_coefficients_altered(case):
    case.arrays["coef"][0] = -1.0


@mutation("perceptron", "mistakes no training row")
def perceptron_weights_altered_by_the_last_bit(case):
    evidence_of(case)["w"] = [[-2.0], [1.0], [1.0 - 2.0**-53]]


@mutation("perceptron averaged", "mistakes as many training rows as stated")
def perceptron_average_said_to_separate(case):
    evidence_of(case)["model_mistakes"] = 0


@mutation("perceptron averaged", "the weights of the model are the separator")
def perceptron_average_called_plain(case):
    evidence_of(case)["variant"] = "plain"


@mutation("perceptron on the boundary", "rows on the boundary are admitted")
def perceptron_boundary_denied(case):
    evidence_of(case)["strict"] = True


@mutation("perceptron on the boundary", "mistakes as many training rows as stated|mistakes no training row")
def perceptron_tie_given_to_the_other_class(case):
    case.meta["loss"]["tie"], evidence_of(case)["tie"] = -1.0, "negative"


@mutation("perceptron on the boundary", "a tie is what the model says")
def perceptron_tie_told_otherwise(case):
    evidence_of(case)["tie"] = "negative"


@mutation("perceptron", "the margin is that of the nearest row")
def perceptron_margin_altered(case):
    evidence_of(case)["margin"] *= 1.001


@mutation("perceptron of three", "the margin is that of the nearest row")
def perceptron_margin_of_three_altered(case):
    evidence_of(case)["margin"] = 0.5


@mutation("perceptron of three", "mistakes as many training rows as stated|mistakes no training row")
def perceptron_weights_of_three_altered(case):
    evidence_of(case)["w"][0][1] = -2.0


@mutation("perceptron", "the radius is the length")
def perceptron_radius_altered(case):
    evidence_of(case)["radius"] = math.sqrt(2.0)


@mutation("perceptron", "a number for every coefficient")
def perceptron_weights_missing(case):
    evidence_of(case)["w"].pop()


@mutation("perceptron", "mistakes and epochs are counted")
def perceptron_mistakes_below_zero(case):
    evidence_of(case)["mistakes"] = -1


@mutation("perceptron", "standardized columns are said")
def perceptron_standardized_altered(case):
    evidence_of(case)["standardized"] = "yes"


@mutation("perceptron", "within the bound")
def perceptron_mistakes_beyond_the_bound(case):
    evidence_of(case)["mistakes"] = 52


@mutation("perceptron", "within the bound")
def perceptron_bound_claimed_of_another_start(case):
    evidence_of(case)["start"] = "given"


@mutation("perceptron", "weights of length 1 reach")
def perceptron_maximum_margin_raised(case):
    widest = evidence_of(case)["maximum_margin"]
    widest["gamma"], widest["gamma_upper"] = 0.25, 0.25


@mutation("perceptron", "larger margin than the sum of these rows allows")
def perceptron_maximum_margin_lowered_from_above(case):
    evidence_of(case)["maximum_margin"]["gamma_upper"] = 0.24


@mutation("perceptron", "larger margin than the sum of these rows allows")
def perceptron_dual_weight_altered(case):
    evidence_of(case)["maximum_margin"]["weights"][0] = 6


@mutation("perceptron", "larger margin than the sum of these rows allows")
def perceptron_dual_weight_below_zero(case):
    evidence_of(case)["maximum_margin"].update(rows=[0, 1, 2, 3], weights=[-1, 5, 5, 7])


@mutation("perceptron", "follows from radius and margin")
def perceptron_bound_altered(case):
    evidence_of(case)["maximum_margin"]["bound"] = 40.0


@mutation("perceptron", "the maximum margin has its figures")
def perceptron_figure_of_the_margin_missing(case):
    del evidence_of(case)["maximum_margin"]["B"]


@mutation("perceptron", "within the bound")
def perceptron_bound_without_a_margin(case):
    del evidence_of(case)["maximum_margin"]


@mutation("perceptron inseparable", "is zero \\(exact\\)")
def perceptron_sum_altered(case):
    evidence_of(case)["weights"] = [str(HUGE)] * 3 + [str(HUGE + 1)]


@mutation("perceptron inseparable", "is zero \\(exact\\)")
def perceptron_row_of_the_sum_dropped(case):
    evidence_of(case)["rows"].pop()
    evidence_of(case)["weights"].pop()


@mutation("perceptron inseparable", "at most one row more than their rank")
def perceptron_sum_of_rows_named_twice(case):
    evidence_of(case)["rows"] *= 2
    evidence_of(case)["weights"] *= 2


@mutation("perceptron inseparable", "the evidence holds rows and weights")
def perceptron_sum_missing(case):
    del evidence_of(case)["weights"]


@mutation("perceptron inseparable", "mistakes no training row")
def perceptron_inseparable_called_separated(case):
    evidence = {"w": [[0.0], [1.0], [1.0]], "strict": True, "margin": 0.1, "by": "perceptron"}
    evidence_of(case).update(evidence)
    verdict(case).update(kind="separated", sentence="Separated: a, b.")


@mutation("perceptron", "is zero \\(exact\\)")
def perceptron_separated_called_inseparable(case):
    evidence_of(case).update(rows=[0, 1, 2, 3], weights=[1, 1, 1, 1], against=None)
    verdict(case).update(kind="not_separable", sentence="Not separable: a, b.")


@mutation("perceptron", "the sentence is the one")
def perceptron_sentence_altered(case):
    verdict(case)["sentence"] = "Not separable: a, b."


@mutation("perceptron", "this checker knows the verdict")
def perceptron_called_optimal(case):
    verdict(case).update(kind="optimal", sentence="Optimal: a.")


@mutation("perceptron", "no gap is claimed of a perceptron")
def perceptron_with_a_gap(case):
    verdict(case)["gap"] = 0.0


@mutation("perceptron undecided", "a reason is given why nothing was decided")
def perceptron_undecided_without_a_reason(case):
    verdict(case)["reason"] = None


@mutation("perceptron", "mistakes as many training rows as stated")
def data_label_of_a_perceptron_altered_no_fingerprint(case):
    case.meta["training"]["fingerprint"] = None
    case.rows[0][2] = "yes"


@mutation("perceptron", "the weights of the model are the separator")
def perceptron_coefficients_that_also_separate(case):
    case.arrays["coef"][0] = -3.5


@mutation("perceptron", "the sentence is the one")
def perceptron_sentence_with_more_behind_it(case):
    verdict(case)["sentence"] += " The best there is."


@mutation("perceptron averaged", "the sentence is the one")
def perceptron_ending_nobody_knows(case):
    verdict(case)["sentence"] = verdict(case)["sentence"].replace("no epoch of 7 was", "everything was")


@mutation("perceptron", "variant and start are known")
def perceptron_of_an_unknown_variant(case):
    evidence_of(case)["variant"] = "best"


@mutation("perceptron", "who found the separator")
def perceptron_found_by_nobody(case):
    evidence_of(case)["by"] = "an angel"


@mutation("perceptron of three", "the margin is that of the nearest row")
def perceptron_margin_a_little_wider(case):
    evidence_of(case)["margin"] *= 1 + 1e-6


@mutation("perceptron undecided", "the sentence is the one")
def perceptron_undecided_for_an_invented_reason(case):
    verdict(case).update(reason="the data is perfect", sentence="Not decided: the data is perfect.")


@mutation("perceptron", "nothing that is not checked")
def perceptron_with_a_prize(case):
    evidence_of(case)["prize"] = 1
