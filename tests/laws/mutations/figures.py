"""Forgeries of coefficients, figures, sentence and penalty."""

from __future__ import annotations

from .forging import MUTATIONS, claim_gap, move, mutation, raise_gap, restate, reword, verdict

for _name in ("linear", "linear weighted", "ridge", "logistic", "logistic ridge", "softmax ridge", "two outputs"):

    def _altered(case):
        move(case, 0.01)
        if case.meta["loss"]["name"] == "softmax":
            case.arrays["coef"] -= case.arrays["coef"].mean(axis=1, keepdims=True)

    MUTATIONS[f"coefficient altered ({_name})"] = (_name, "the objective at the coefficients is as stated", _altered)

for _name in ("linear", "ridge", "logistic", "logistic ridge", "softmax"):

    def _moved(case):
        """Coefficients that are off, with their true objective stated: only the gap can tell."""
        move(case, 0.003)
        case.arrays["coef"] -= case.arrays["coef"].mean(axis=1, keepdims=True) if len(case.arrays["coef"][0]) > 1 else 0
        restate(case)

    MUTATIONS[f"coefficient altered and its objective stated ({_name})"] = (_name, "not below the proven", _moved)


@mutation("logistic", "every score of a training row is a finite number")
def coefficients_beyond_doubles(case):
    case.arrays["coef"][1] = 1e307


@mutation("logistic", "the lower bound is the objective less the gap")
def gap_halved_(case):
    verdict(case)["gap"] /= 2
    reword(case)


@mutation("budget", "the stated gap is not below the proven one")
def gap_understated_consistently(case):
    claim_gap(case, verdict(case)["gap"] / 2)


@mutation("budget", "the stated gap is not below the proven one")
def unfinished_fit_called_optimal(case):
    verdict(case)["kind"] = "optimal"
    claim_gap(case, 1e-12)


@mutation("budget", "the stated gap is not far above the proven one")
def gap_overstated_consistently(case):
    claim_gap(case, verdict(case)["gap"] * 1e5)


@mutation("logistic", "the stated gap is not far above the proven one")
def gap_raised_to_a_wide_tolerance(case):
    raise_gap(case)


@mutation("linear", "a gap is stated")
def gap_removed(case):
    verdict(case)["gap"] = None
    verdict(case)["sentence"] = "It is optimal."


@mutation("linear", "a gap is stated")
def gap_null(case):
    verdict(case)["gap"] = None
    verdict(case)["sentence"] = f"Optimal: {100 * verdict(case)['relative_gap']:.2g} %."


@mutation("linear", "the relative gap is the gap over")
def relative_gap_altered(case):
    verdict(case)["relative_gap"] /= 10
    reword(case)


@mutation("linear", "the relative gap is the gap over")
def relative_gap_zero(case):
    verdict(case)["relative_gap"] = 0.0
    reword(case)


@mutation("ridge", "the lower bound is the objective less the gap")
def lower_bound_altered(case):
    verdict(case)["evidence"]["lower_bound"] *= 1 - 1e-9


@mutation("ridge", "the objective of the null fit is as stated")
def null_objective_raised(case):
    verdict(case)["evidence"]["null_objective"] *= 100
    claim_gap(case, verdict(case)["gap"])


@mutation("ridge", "the objective at the coefficients is as stated")
def objective_altered(case):
    verdict(case)["evidence"]["objective"] *= 1 - 1e-9
    claim_gap(case, verdict(case)["gap"])


@mutation("ridge", "the radius")
def radius_halved(case):
    verdict(case)["evidence"]["radius"] /= 2


@mutation("logistic", "the tolerance in the evidence")
def tol_raised(case):
    case.meta["tol"] = 1e-2


@mutation("logistic", "the tolerance in the evidence")
def tol_in_the_evidence_raised(case):
    verdict(case)["evidence"]["tol"] = 1e-2


@mutation("logistic", "the relative gap is within the tolerance")
def tol_below_the_relative_gap(case):
    case.meta["tol"] = verdict(case)["evidence"]["tol"] = 1e-15


@mutation("logistic", "the sentence is the one")
def sentence_of_another_kind(case):
    verdict(case)["sentence"] = "Not optimal yet: the time limit was reached."


@mutation("logistic", "the sentence is the one")
def sentence_with_a_better_figure(case):
    verdict(case)["sentence"] = "Optimal: better by at most 1e-30 % (gap 1e-32)."


@mutation("ridge", "the objective at the coefficients is as stated")
def strength_altered(case):
    case.meta["penalty"]["strength"] *= 1.001
    reword(case)


@mutation("ridge", "the charge of every column is its variance")
def charge_altered(case):
    case.arrays["charges"][2] *= 1.001


@mutation("ridge", "the objective at the coefficients is as stated")
def charge_altered_and_no_longer_said_to_be_a_variance(case):
    case.arrays["charges"][2] *= 1.001
    case.meta["report"] = {}


@mutation("ridge", "no charge is below zero")
def intercept_charged(case):
    case.arrays["charges"][0] = 1.0


@mutation("ridge", "no charge is below zero")
def charge_below_zero(case):
    case.arrays["charges"][2] *= -1


@mutation("ridge", "the objective at the coefficients is as stated")
def penalty_forgotten(case):
    case.meta["penalty"] = {"name": "none"}
    del case.arrays["charges"], verdict(case)["evidence"]["radius"]


@mutation("linear", "tolerance is one by which")
def tolerance_inflated(case):
    case.meta["tol"] = verdict(case)["evidence"]["tol"] = 1e6


@mutation("linear", "holds objective, lower bound, null objective and tolerance")
def evidence_without_its_tolerance(case):
    del verdict(case)["evidence"]["tol"]


@mutation("linear", "the sentence is the one")
def free_text_after_the_sentence(case):
    verdict(case)["sentence"] += " Approved."


@mutation("linear", "the reason is that of its kind")
def reason_given_for_an_optimum(case):
    verdict(case)["reason"] = "it was approved"


@mutation("linear", "nothing that is not checked")
def evidence_invented(case):
    verdict(case)["evidence"]["quality"] = 1.0


@mutation("budget", "an ending that this checker knows")
def ending_invented(case):
    verdict(case)["reason"] = "the optimum is near"
    verdict(case)["sentence"] = verdict(case)["sentence"].replace("the time limit was reached", "the optimum is near")
