"""Optima by other programs: HiGHS for losses made of corners, L-BFGS-B from scipy for smooth ones."""

from __future__ import annotations

import numpy as np
from scipy import optimize, sparse


def rival(loss, x, y, weight, offset, penalty):
    """Return the objective that another program reaches, or None where none of them takes the problem."""
    weight = np.ones(len(y)) if weight is None else weight
    offset = np.zeros((len(y), loss.outputs)) if offset is None else offset
    on = weight > 0.0
    x, y, weight, offset = x[on].astype(float), y[on], weight[on] / weight[on].sum(), offset[on]
    # columns of size one: the objective is the same, and other programs need it
    scale = np.sqrt(np.mean(x**2, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    inner = getattr(penalty, "inner", penalty)
    linear = getattr(inner, "linear", np.zeros(len(scale))) / scale
    square = inner.curvature() / scale**2
    low = getattr(penalty, "lower", np.full(len(scale), -np.inf)) * scale
    high = getattr(penalty, "upper", np.full(len(scale), np.inf)) * scale
    if not loss.smooth:
        if np.any(square) or (penalty.name == "group" and loss.coupled):
            return None
        if loss.coupled:
            return _classes(x / scale, y, weight, offset, linear, low, high)
        return _program(loss, x / scale, y, weight, offset, linear, low, high)
    if penalty.name == "group" and loss.outputs > 1:
        return None
    return _descent(loss, x / scale, y, weight, offset, linear, square, low, high)


def _program(loss, x, y, weight, offset, linear, low, high):
    """Minimise ``weight.(high u - low v) + linear.(a + b)`` with ``X (a - b) + offset - at = u - v``, all four >= 0."""
    n, p = x.shape
    rows, rights, up, down = [], [], [], []
    for at, least, most in loss.kinks(y):
        rows.append(x)
        rights.append((at - offset)[:, 0])
        up.append(weight * most[:, 0])
        down.append(-weight * least[:, 0])
    m = n * len(rows)
    a = np.vstack(rows)
    # coefficients may be negative: b = b+ - b-, both >= 0, the bounds as rows of their own
    limits = [(sign, bound) for sign, bound in ((1.0, high), (-1.0, -low)) if np.any(np.isfinite(bound))]
    above = np.vstack([sign * np.eye(p)[np.isfinite(bound)] for sign, bound in limits]) if limits else np.zeros((0, p))
    right = np.concatenate([bound[np.isfinite(bound)] for _, bound in limits]) if limits else np.zeros(0)
    found = optimize.linprog(
        np.concatenate([linear, linear, *up, *down]),
        A_ub=sparse.hstack([above, -above, sparse.csr_array((len(above), 2 * m))]),
        b_ub=right,
        A_eq=sparse.hstack([a, -a, -sparse.eye_array(m), sparse.eye_array(m)]),
        b_eq=np.concatenate(rights),
        bounds=(0, None),
    )
    return float(found.fun) if found.status == 0 else None


def _classes(x, y, weight, offset, linear, low, high):
    """Minimise ``weight.xi + linear.(a + b)``, ``xi_i >= [k != y] + eta_ik - eta_iy``, a, b >= 0, eta = X (a - b) + offset."""
    n, p = x.shape
    k = offset.shape[1]
    rows, rights = [], []
    for i in range(n):
        own = int(y[i, 0])
        for other in set(range(k)) - {own}:
            row = np.zeros((p, k))
            row[:, other], row[:, own] = x[i], -x[i]
            rows.append(np.concatenate([row.ravel(), -row.ravel(), -np.eye(n)[i]]))
            rights.append(offset[i, own] - offset[i, other] - 1.0)
    signed = np.hstack([np.eye(p * k), -np.eye(p * k), np.zeros((p * k, n))])
    for sign, bound in ((1.0, np.repeat(high, k)), (-1.0, -np.repeat(low, k))):
        rows += list(sign * signed[np.isfinite(bound)])
        rights += list(bound[np.isfinite(bound)])
    cost = np.concatenate([np.repeat(linear, k), np.repeat(linear, k), weight])
    found = optimize.linprog(cost, A_ub=sparse.csr_array(np.array(rows)), b_ub=rights, bounds=(0, None))
    return float(found.fun) if found.status == 0 else None


def _descent(loss, x, y, weight, offset, linear, square, low, high):
    """Minimise over ``b = b+ - b-``, both >= 0, by L-BFGS-B; bounds on b as bounds on its parts."""
    p, k = x.shape[1], loss.outputs

    def objective(flat):
        plus, minus = flat.reshape(2, p, k)
        b = plus - minus
        eta = x @ b + offset
        slope = x.T @ (weight[:, None] * loss.slope(y, eta)) + square[:, None] * b
        value = weight @ loss.value(y, eta) + 0.5 * square @ np.sum(b**2, axis=1)
        value += linear @ np.sum(plus + minus, axis=1)
        return value, np.concatenate([slope + linear[:, None], linear[:, None] - slope]).ravel()

    low, high = np.repeat(low, k), np.repeat(high, k)
    bounds = [(max(a, 0.0), max(b, 0.0)) for a, b in zip(low, high, strict=True)]
    bounds += [(max(-b, 0.0), max(-a, 0.0)) for a, b in zip(low, high, strict=True)]
    start = np.array([a for a, _ in bounds])
    with np.errstate(over="ignore"):
        for _ in range(2):
            found = optimize.minimize(
                objective,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": 1000, "maxfun": 3000, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 30},
            )
            start = found.x
    return float(found.fun)
