"""Forgeries of the kind of a verdict and of its evidence."""

from __future__ import annotations

import numpy as np

from .forging import MUTATIONS, mutation, restate, restate_objective, reword, verdict
from .honest import build


@mutation("at infinity", "the sentence is the one|a gap can be proven|not below the proven")
def at_infinity_called_optimal(case):
    v, evidence = verdict(case), verdict(case)["evidence"]
    null = build("outcome", "logistic", ["age", "island"], rows=case.rows).meta["verdict"]["evidence"]["null_objective"]
    value = evidence["objective"]
    v.update(kind="optimal", gap=1e-13, relative_gap=1e-13 / (null - value + 1e-13))
    v["evidence"] = {"objective": value, "lower_bound": value - 1e-13, "null_objective": null, "tol": 1e-6}
    del case.arrays["direction"]
    reword(case)


@mutation("at infinity", "a gap can be proven")
def at_infinity_called_optimal_far_out(case):
    case.arrays["coef"][case.meta["columns"].index("island=Torgersen")] = 40.0
    null = build("outcome", "logistic", ["age", "island"], rows=case.rows).meta["verdict"]["evidence"]["null_objective"]
    verdict(case).update(kind="optimal", gap=1e-13, relative_gap=1e-12)
    verdict(case)["evidence"] = {"objective": 0.4, "lower_bound": 0.4, "null_objective": null, "tol": 1e-6}
    del case.arrays["direction"]
    restate(case)


@mutation("logistic", "the loss of no training row grows")
def optimal_called_at_infinity(case):
    direction = np.zeros_like(case.arrays["coef"])
    direction[1] = 1.0
    case.arrays = {"coef": case.arrays["coef"], "direction": direction}
    names = case.meta["columns"]
    evidence = {"plus": names[1:2], "minus": [], "finite": names[:1] + names[2:], "strict_rows": 5, "rows": []}
    sentence = f"No finite optimum: {names[1]}."
    verdict(case).update(kind="at_infinity", sentence=sentence, gap=None, relative_gap=None, evidence=evidence)


@mutation("linear", "the loss can fall for ever")
def squared_called_at_infinity(case):
    direction = np.ones_like(case.arrays["coef"])
    case.arrays = {"coef": case.arrays["coef"], "direction": direction}
    evidence = {"plus": case.meta["columns"], "minus": [], "finite": [], "strict_rows": 5, "rows": []}
    sentence = f"No finite optimum: {case.meta['columns'][0]}."
    verdict(case).update(kind="at_infinity", sentence=sentence, gap=None, relative_gap=None, evidence=evidence)


@mutation("at infinity", "the loss of no training row grows")
def direction_reversed(case):
    case.arrays["direction"] *= -1


@mutation("at infinity", "the loss of no training row grows")
def direction_tilted_by_a_hair(case):
    case.arrays["direction"][0] = -5e-324


@mutation("at infinity", "the file holds a direction")
def direction_zero(case):
    case.arrays["direction"] *= 0


@mutation("at infinity", "the stated number of rows falls")
def strict_rows_altered(case):
    verdict(case)["evidence"]["strict_rows"] += 1


@mutation("at infinity", "said to be infinite")
def infinite_column_altered(case):
    evidence = verdict(case)["evidence"]
    evidence["finite"], evidence["plus"] = evidence["plus"] + evidence["finite"][1:], evidence["finite"][:1]
    verdict(case)["sentence"] = f"No finite optimum: {evidence['plus'][0]}."


@mutation("at infinity exactly", "the loss of no training row grows")
def exact_direction_tilted_by_less_than_a_double_shows(case):
    evidence = verdict(case)["evidence"]
    case.arrays["direction"][0] = -1 / (10**40 + 1) * np.max(case.arrays["direction"])
    evidence["direction"]["(intercept)"] = -1
    evidence["minus"], evidence["finite"] = ["(intercept)"], evidence["finite"][1:]


@mutation("at infinity exactly", "the array of the direction is the exact one")
def exact_direction_reversed(case):
    verdict(case)["evidence"]["direction"]["island=Torgersen"] = str(-(10**40))


@mutation("at infinity exactly", "the array of the direction is the exact one")
def exact_direction_of_another_column(case):
    verdict(case)["evidence"]["direction"] = {"age": 1}


@mutation("at infinity exactly", "whole numbers for coefficients of the model")
def exact_direction_of_a_strange_column(case):
    verdict(case)["evidence"]["direction"]["height"] = 1


@mutation("at infinity exactly", "whole numbers for coefficients of the model")
def exact_direction_of_fractions(case):
    verdict(case)["evidence"]["direction"]["island=Torgersen"] = 1.5


@mutation("at infinity", "the rows named")
def strict_row_named_wrongly(case):
    verdict(case)["evidence"]["rows"][0] += 1


@mutation("at infinity", "the objective at the coefficients is as stated")
def coefficient_at_infinity_altered(case):
    case.arrays["coef"][1] += 0.01


@mutation("at infinity", "no gap is claimed")
def gap_claimed_at_infinity(case):
    verdict(case)["gap"] = 0.0
    verdict(case)["sentence"] += " (gap 0)"


@mutation("diverged", "no objective is stated where it is not finite")
def objective_stated_of_a_diverged_fit(case):
    verdict(case)["evidence"]["objective"] = 0.5


@mutation("diverged", "a reason is given")
def diverged_without_a_reason(case):
    verdict(case)["reason"] = None


@mutation("diverged", "every score of a training row is a finite number")
def diverged_called_optimal(case):
    v = verdict(case)
    v.update(kind="optimal", gap=1e-9, relative_gap=1e-9, sentence="Optimal: 1e-07 % (gap 1e-09).")
    v["evidence"] = {"objective": 0.5, "lower_bound": 0.5, "null_objective": 0.6, "tol": 1e-6}


@mutation("not unique", "every dependency is zero in every row")
def dependency_altered(case):
    case.arrays["null_space"][1] *= 1 + 1e-12
    verdict(case)["evidence"]["dependencies"] = [{"height": float(case.arrays["null_space"][1, 0]), "half": 1.0}]


@mutation("not unique", "combinations of the others in every digit")
def data_of_a_dependency_off_by_one_rounding_error_no_fingerprint(case):
    """The last digit of one cell: to rounding it is still half of the other."""
    case.meta["training"]["fingerprint"] = None
    place = case.header.index("half")
    row = next(row for row in case.rows if row[place] not in ("", "NA"))
    row[place] = repr(float(np.nextafter(float(row[place]), np.inf)))


@mutation("not unique", "the dependencies by name")
def dependency_in_the_text_altered(case):
    verdict(case)["evidence"]["dependencies"] = [{"height": -0.5, "age": 1.0}]


@mutation("not unique", "the file holds the null space")
def null_space_removed_but_dependencies_kept(case):
    del case.arrays["null_space"]


@mutation("not unique", "the dependencies are independent of each other")
def dependency_counted_twice(case):
    case.arrays["null_space"] = np.repeat(case.arrays["null_space"], 2, axis=1)
    verdict(case)["evidence"]["dependencies"] *= 2


@mutation("not unique", "a gap can be proven")
def not_unique_called_optimal(case):
    verdict(case)["kind"] = "optimal"
    del case.arrays["null_space"]
    reword(case)


@mutation("linear", "some columns are combinations of others")
def optimal_called_not_unique(case):
    verdict(case)["kind"] = "not_unique"
    reword(case)


@mutation("not unique", "the coefficients are the smallest of their flat")
def another_point_of_the_flat(case):
    case.arrays["coef"] += 0.01 * case.arrays["null_space"]


@mutation("linear", "the covariance of the coefficients is as stated")
def covariance_altered(case):
    case.arrays["covariance"][2, 2] *= 1 + 1e-5


@mutation("logistic weighted", "the covariance of the coefficients is as stated")
def covariance_halved(case):
    case.arrays["covariance"] /= 2


@mutation("ridge", "a covariance is given for a unique fit without a penalty, or a posterior")
def covariance_invented(case):
    case.arrays["covariance"] = np.eye(len(case.arrays["coef"]))


@mutation("logistic", "the relative gap is above the tolerance")
def optimal_called_budget(case):
    verdict(case)["kind"] = "budget"
    reword(case)


@mutation("linear", "this checker does not know verdicts of kind 'separated'")
def kind_unknown_to_the_checker(case):
    verdict(case)["kind"] = "separated"


@mutation("linear", "the loss of each row before it was learned is known to who learned them")
def proven_called_progressive(case):
    stream = {"rows": 10, "weight_sum": 10.0, "loss_sum": 5.0, "mean": 0.5}
    verdict(case).update(kind="progressive", sentence="Progressive: 0.5 a row.", gap=None, relative_gap=None)
    verdict(case)["evidence"] = stream


@mutation("linear", "the mean loss is the sum over the weight")
def progressive_with_another_mean(case):
    proven_called_progressive(case)
    verdict(case)["evidence"]["mean"] = 0.4


def charge(case, column: str) -> None:
    """PenaltyMaker one column, and state the objective that then holds."""
    where = case.meta["columns"].index(column)
    case.meta["penalty"] = {"name": "ridge", "strength": 0.5}
    case.arrays["charges"] = np.zeros(len(case.meta["columns"]))
    case.arrays["charges"][where] = 1.0
    verdict(case)["evidence"]["objective"] += 0.25 * float(np.sum(case.arrays["coef"][where] ** 2))


@mutation("at infinity", "the direction leaves every charged column alone")
def infinite_column_charged(case):
    charge(case, "island=Torgersen")


@mutation("at infinity", "the direction leaves no bound")
def infinite_column_bounded(case):
    size = len(case.meta["columns"])
    case.meta["penalty"] = {"name": "bounds", "inner": {"name": "none", "strength": 0.0}}
    case.arrays["charges"] = np.zeros(size)
    case.arrays["lower"], case.arrays["upper"] = np.full(size, -np.inf), np.full(size, np.inf)
    for side, end in (("lower", -1e9), ("upper", 1e9)):
        case.arrays[side][case.meta["columns"].index("island=Torgersen")] = end


@mutation("not unique", "no charged column takes part in a dependency")
def dependent_column_charged(case):
    charge(case, "half")


for _name in ("objective", "lower_bound", "null_objective"):

    def _without(case, name=_name):
        del verdict(case)["evidence"][name]

    MUTATIONS[f"evidence without {_name}"] = ("ridge", "the evidence holds objective", _without)


@mutation("at infinity", "the remedies are those of the loss")
def remedy_invented(case):
    verdict(case)["evidence"]["remedies"] = ["prayer"]


@mutation("at infinity", "the sentence is the one")
def count_in_the_sentence_altered(case):
    count = verdict(case)["evidence"]["strict_rows"]
    verdict(case)["sentence"] = verdict(case)["sentence"].replace(f" {count} of ", f" {count + 1} of ")


@mutation("at infinity", "no worse than the null fit")
def coefficients_at_infinity_replaced(case):
    case.arrays["coef"] *= -1.0
    restate_objective(case)
