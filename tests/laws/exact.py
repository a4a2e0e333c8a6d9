"""The optimum of a small problem to fifty digits, by Newton's method in ball arithmetic (python-flint)."""

from __future__ import annotations

import flint
import numpy as np
from flint import arb, arb_mat

flint.ctx.prec = 400


def number(value) -> arb:
    return arb(float(value))


class Exact:
    """One problem in arb numbers; coefficients are lists, column-major by output as ``b[j][k]``."""

    def __init__(self, loss, x, y, weight, offset, strength, penalty_factors):
        self.loss = loss
        n = len(x)
        weight = np.ones(n) if weight is None else weight
        keep = np.flatnonzero(weight > 0)
        self.x = [[number(v) for v in x[i]] for i in keep]
        self.y = [[number(v) for v in y[i]] for i in keep]
        self.weight = [number(weight[i]) for i in keep]
        zero = np.zeros((n, loss.outputs))
        offset = zero if offset is None else offset
        self.offset = [[number(v) for v in offset[i]] for i in keep]
        self.total = sum(self.weight, arb(0))
        self.penalty_factor = [number(strength) * number(c) for c in penalty_factors]
        self.p, self.k = x.shape[1], loss.outputs

    def rows(self, b):
        """Yield (weight, x, value, slope, curvature) of every row."""
        for s, x, y, o in zip(self.weight, self.x, self.y, self.offset, strict=True):
            eta = [o[k] + sum((x[j] * b[j][k] for j in range(self.p)), arb(0)) for k in range(self.k)]
            if self.loss.name == "squared":
                r = [e - t for e, t in zip(eta, y, strict=True)]
                value = sum((v * v for v in r), arb(0)) / 2
                curve = [[arb(int(a == c)) for c in range(self.k)] for a in range(self.k)]
                yield s, x, value, r, curve
            elif self.loss.name == "logistic":
                e = eta[0]
                p = 1 / (1 + (-e).exp())
                value = y[0] * (1 + (-e).exp()).log() + (1 - y[0]) * (1 + e.exp()).log()
                yield s, x, value, [p - y[0]], [[p * (1 / (1 + e.exp()))]]
            elif self.loss.name == "poisson":
                m = eta[0].exp()
                yield s, x, m - y[0] * eta[0], [m - y[0]], [[m]]
            elif self.loss.name == "huber":
                r, t = eta[0] - y[0], number(self.loss.threshold)
                if abs(r) < t:
                    yield s, x, r * r / 2, [r], [[arb(1)]]
                else:
                    yield s, x, t * abs(r) - t * t / 2, [t if r > 0 else -t], [[arb(0)]]
            elif self.loss.name == "squared-hinge":
                side = 1 if y[0] > 0.5 else -1
                d = 1 - side * eta[0]
                yield s, x, (d * d / 2 if d > 0 else arb(0)), [-side * d if d > 0 else arb(0)], [[arb(int(d > 0))]]
            else:
                top = max(float(e.mid()) for e in eta)
                w = [(e - arb(top)).exp() for e in eta]
                total = sum(w, arb(0))
                p = [v / total for v in w]
                own = int(float(y[0].mid()))
                value = total.log() + arb(top) - eta[own]
                slope = [v - int(a == own) for a, v in enumerate(p)]
                curve = [[p[a] * (int(a == c) - p[c]) for c in range(self.k)] for a in range(self.k)]
                yield s, x, value, slope, curve

    def value(self, b) -> arb:
        rows = sum((s * value for s, _, value, _, _ in self.rows(b)), arb(0)) / self.total
        return (
            rows + sum((c * b[j][k] ** 2 for j, c in enumerate(self.penalty_factor) for k in range(self.k)), arb(0)) / 2
        )

    def optimum(self, start, rounds=60):
        """Return F* from a point close to the optimum, or None where Newton does not settle."""
        b = [[number(v) for v in row] for row in start]
        size = self.p * self.k
        best = self.value(b)
        for _ in range(rounds):
            gradient = [[self.penalty_factor[j] * b[j][k] for k in range(self.k)] for j in range(self.p)]
            hessian = [[arb(0)] * size for _ in range(size)]
            for s, x, _, slope, curve in self.rows(b):
                for j in range(self.p):
                    for a in range(self.k):
                        gradient[j][a] += s * x[j] * slope[a] / self.total
                        for i in range(self.p):
                            for c in range(self.k):
                                hessian[j * self.k + a][i * self.k + c] += s * x[j] * x[i] * curve[a][c] / self.total
            for j in range(self.p):
                for a in range(self.k):
                    hessian[j * self.k + a][j * self.k + a] += self.penalty_factor[j]
                    if self.loss.name == "softmax" and float(self.penalty_factor[j].mid()) == 0.0:
                        for c in range(self.k):
                            hessian[j * self.k + a][j * self.k + c] += arb(1) / self.k
            try:
                step = arb_mat(hessian).solve(arb_mat([[gradient[j][a]] for j in range(self.p) for a in range(self.k)]))
            except ZeroDivisionError:
                return None
            fall = sum((gradient[j][a] * step[j * self.k + a, 0] for j in range(self.p) for a in range(self.k)), arb(0))
            length = arb(1)
            for _ in range(60):
                trial = [
                    [(b[j][a] - length * step[j * self.k + a, 0]).mid() for a in range(self.k)] for j in range(self.p)
                ]
                value = self.value(trial)
                if float(value.mid()) <= float(best.mid()):
                    break
                length /= 2
            b, best = trial, value
            if abs(float(fall.mid())) <= 1e-50 * (abs(float(best.mid())) + 1e-30):
                return best
        return None
