"""Forgeries of fits that are infeasible, stationary (Firth) or chosen by their evidence; the honest files are in `modern`."""

from __future__ import annotations

import numpy as np

from . import engine
from .forging import claim_gap, mutation, verdict


@mutation("infeasible", "some column has a lower bound above its upper one")
def clash_removed(case):
    case.arrays["lower"], case.arrays["upper"] = np.full(5, -1.0), np.full(5, 1.0)


@mutation("infeasible", "the clashes name these columns")
def clash_of_another_column(case):
    verdict(case)["evidence"]["clashes"][0]["column"] = "x1"
    verdict(case)["sentence"] = "Infeasible: x1."


@mutation("infeasible", "the clashes name these columns")
def clash_left_out(case):
    verdict(case)["evidence"]["clashes"].pop()


@mutation("infeasible", "the bounds of a clash are those of the penalty")
def bounds_of_a_clash_altered(case):
    verdict(case)["evidence"]["clashes"][0]["lower"] = 0.6


@mutation("infeasible", "the multipliers of a clash")
def multipliers_altered(case):
    verdict(case)["evidence"]["clashes"][0]["multipliers"] = [1.0, 2.0]


@mutation("infeasible", "no gap is claimed where there are no coefficients")
def gap_of_no_coefficients(case):
    verdict(case)["gap"] = 0.0


@mutation("bounds", "some column has a lower bound above its upper one")
def optimal_called_infeasible(case):
    evidence = {"clashes": [{"column": "x0", "lower": 0.0, "upper": -1.0, "multipliers": [1.0, 1.0]}]}
    verdict(case).update(kind="infeasible", sentence="Infeasible: x0.", gap=None, relative_gap=None, evidence=evidence)


@mutation("infeasible", "every coefficient is within its bounds")
def infeasible_called_optimal(case):
    verdict(case)["evidence"] = {"objective": 0.5, "null_objective": 0.6, "tol": 1e-6}
    verdict(case)["kind"] = "optimal"
    claim_gap(case, 1e-13)


@mutation("firth", "the norm of the slope is as stated")
def stationary_coefficients_altered(case):
    case.arrays["coef"][2] += 1e-6


@mutation("firth", "the norm of the slope is as stated")
def slope_norm_altered(case):
    verdict(case)["evidence"]["slope_norm"] *= 0.1
    verdict(case)["sentence"] = f"Stationary: {verdict(case)['evidence']['slope_norm']:.2g}."


@mutation("firth", "the value of what was maximised")
def penalised_likelihood_altered(case):
    verdict(case)["evidence"]["objective"] *= 1 + 1e-8


@mutation("firth", "the slope is within the tolerance of the evidence")
def slope_above_its_tolerance(case):
    verdict(case)["evidence"]["tol"] = 1e-30


@mutation("evidence", "the slope is within the tolerance, rounding included")
def slope_that_rounding_may_exceed(case):
    verdict(case)["evidence"]["tol"] = verdict(case)["evidence"]["slope_norm"]


@mutation("firth", "no gap is claimed where nothing is convex")
def gap_of_a_stationary_point(case):
    verdict(case)["gap"] = 0.0


@mutation("firth", "the objective at the coefficients is as stated")
def stationary_called_optimal(case):
    evidence = verdict(case)["evidence"]
    verdict(case)["kind"] = "optimal"
    del evidence["slope_norm"]
    evidence.update(null_objective=0.7, tol=1e-6)
    claim_gap(case, 1e-13)


@mutation("firth", "the covariance of the coefficients is as stated")
def covariance_of_a_stationary_point_altered(case):
    case.arrays["covariance"][1, 1] *= 1 + 1e-5


@mutation("huber", "a slope is stated for")
def slope_of_a_convex_fit(case):
    verdict(case)["evidence"]["slope_norm"] = 0.0
    verdict(case)["sentence"] += " 0"


@mutation("evidence", "the strength is noise")
def noise_altered(case):
    verdict(case)["evidence"]["noise"] *= 1.001


@mutation("evidence", "the norm of the slope is as stated")
def noise_and_prior_altered(case):
    verdict(case)["evidence"]["noise"] *= 1.001
    verdict(case)["evidence"]["prior"] *= 1.001


@mutation("evidence", "the norm of the slope is as stated")
def hyperprior_altered(case):
    verdict(case)["evidence"]["hyper"][0] = 1e-3


@mutation("evidence", "the evidence holds noise, prior")
def nothing_was_estimated(case):
    verdict(case)["evidence"]["free"] = []


@mutation("evidence", "the value of what was maximised")
def log_evidence_altered(case):
    verdict(case)["evidence"]["log_evidence"] += 1e-6


@mutation("evidence", "holds objective, lower bound, null objective and tolerance")
def ridge_without_a_lower_bound(case):
    del verdict(case)["evidence"]["ridge"]["lower_bound"]


@mutation("evidence", "the lower bound is the objective less the gap")
def ridge_bound_raised(case):
    ridge = verdict(case)["evidence"]["ridge"]
    ridge["lower_bound"] -= 1e-7


@mutation("evidence", "the objective of the null fit is as stated")
def ridge_null_objective_altered(case):
    verdict(case)["evidence"]["ridge"]["null_objective"] *= 1.001


@mutation("evidence", "the ridge is proven to the default tolerance")
def ridge_tolerance_altered(case):
    verdict(case)["evidence"]["ridge"]["tol"] = 1e-2


@mutation("evidence", "not below the proven one")
def ridge_radius_shrunk(case):
    verdict(case)["evidence"]["ridge"]["radius"] = 0.0
    case.arrays["coef"][3] *= 1 + 1e-5
    ridge = verdict(case)["evidence"]["ridge"]
    ridge["objective"] = ridge["lower_bound"] = engine.objective_of(case, case.arrays["coef"])
