"""Optima of small problems to fifty digits (mpmath), for every loss: Newton's method along a family of smooth losses.

Formulas are written anew here. Losses with corners are rounded off over a width ``t`` that falls to 1e-18; logistic and
softmax are seen in units of a temperature ``t`` that falls to 1.
"""

from __future__ import annotations

import numpy as np
from mpmath import exp, log, lu_solve, matrix, mp, mpf

mp.dps = 50

CORNERS = {"absolute", "quantile", "hinge", "epsilon-insensitive", "crammer-singer"}


def ramp(r, low, high, t):
    """max(low r, high r), rounded off over |r| < t: value, slope, curvature."""
    if r >= t:
        return high * r, high, mpf(0)
    if r <= -t:
        return low * r, low, mpf(0)
    mid, half = (low + high) / 2, (high - low) / 2
    # half*|r| -> half*(r^2/(2t) + t/2)
    return mid * r + half * (r * r / (2 * t) + t / 2), mid + half * r / t, half / t


def row(name, y, eta, t, par):
    """value, slope list, curvature matrix."""
    if name == "squared":
        r = [e - v for e, v in zip(eta, y, strict=True)]
        k = len(eta)
        return sum(v * v for v in r) / 2, r, [[mpf(int(a == b)) for b in range(k)] for a in range(k)]
    if name == "logistic":
        e = eta[0] / t
        p = 1 / (1 + exp(-e)) if e >= 0 else exp(e) / (1 + exp(e))
        sp = (e if e > 0 else mpf(0)) + log(1 + exp(-abs(e)))
        return t * sp - y[0] * eta[0], [p - y[0]], [[p * (1 - p) / t]]
    if name == "poisson":
        m = exp(eta[0])
        return m - y[0] * eta[0], [m - y[0]], [[m]]
    if name == "huber":
        r, T = eta[0] - y[0], mpf(par)
        if abs(r) < T:
            return r * r / 2, [r], [[mpf(1)]]
        return T * abs(r) - T * T / 2, [T if r > 0 else -T], [[mpf(0)]]
    if name == "squared-hinge":
        s = 1 if y[0] > 0.5 else -1
        d = 1 - s * eta[0]
        return (d * d / 2, [-s * d], [[mpf(1)]]) if d > 0 else (mpf(0), [mpf(0)], [[mpf(0)]])
    if name == "squared-epsilon-insensitive":
        r = eta[0] - y[0]
        d = abs(r) - mpf(par)
        return (d * d / 2, [d if r > 0 else -d], [[mpf(1)]]) if d > 0 else (mpf(0), [mpf(0)], [[mpf(0)]])
    if name in ("absolute", "quantile", "hinge", "epsilon-insensitive"):
        if name == "absolute":
            parts = [(eta[0] - y[0], mpf(-1), mpf(1))]
        elif name == "quantile":
            parts = [(eta[0] - y[0], -mpf(par), 1 - mpf(par))]
        elif name == "hinge":
            s = 1 if y[0] > 0.5 else -1
            parts = [(eta[0] - 1, mpf(-1), mpf(0))] if s > 0 else [(eta[0] + 1, mpf(0), mpf(1))]
        else:
            parts = [(eta[0] - y[0] - mpf(par), mpf(0), mpf(1)), (eta[0] - y[0] + mpf(par), mpf(-1), mpf(0))]
        out = [ramp(r, a, b, t) for r, a, b in parts]
        return sum(o[0] for o in out), [sum(o[1] for o in out)], [[sum(o[2] for o in out)]]
    own, k = int(y[0]), len(eta)
    if name in ("softmax", "crammer-singer"):
        cost = [e + (int(j != own) if name == "crammer-singer" else 0) for j, e in enumerate(eta)]
        top = max(cost)
        w = [exp((c - top) / t) for c in cost]
        z = sum(w)
        p = [v / z for v in w]
        value = t * log(z) + top - eta[own]
        return (
            value,
            [v - int(j == own) for j, v in enumerate(p)],
            [[(p[a] * (int(a == b) - p[b])) / t for b in range(k)] for a in range(k)],
        )
    assert name == "sparsemax"
    s = sorted(eta, reverse=True)
    acc = mpf(0)
    for j, v in enumerate(s):
        acc += v
        if 1 + (j + 1) * v > acc:
            size, tau = j + 1, (acc - 1) / (j + 1)
    p = [max(e - tau, mpf(0)) for e in eta]
    m = [int(v > 0) for v in p]
    value = sum(q * e for q, e in zip(p, eta, strict=True)) - sum(q * q for q in p) / 2 + mpf(1) / 2 - eta[own]
    return (
        value,
        [v - int(j == own) for j, v in enumerate(p)],
        [[mpf(m[a] * int(a == b)) - mpf(m[a] * m[b]) / size for b in range(k)] for a in range(k)],
    )


class Reference:
    def __init__(self, name, par, outputs, x, y, weight, offset, square):
        self.name, self.par, self.k = name, par, outputs
        n = len(x)
        w = np.ones(n) if weight is None else weight
        keep = np.flatnonzero(w > 0)
        self.x = [[mpf(float(v)) for v in x[i]] for i in keep]
        self.y = [[mpf(float(v)) for v in np.atleast_1d(y[i])] for i in keep]
        tot = sum(mpf(float(w[i])) for i in keep)
        self.q = [mpf(float(w[i])) / tot for i in keep]
        off = np.zeros((n, outputs)) if offset is None else np.asarray(offset).reshape(n, -1)
        self.o = [[mpf(float(v)) for v in off[i]] for i in keep]
        self.square = [mpf(float(c)) for c in square]
        self.p = x.shape[1]

    def eta(self, i, b):
        return [self.o[i][k] + sum(self.x[i][j] * b[j][k] for j in range(self.p)) for k in range(self.k)]

    def value(self, b, t=None):
        t = t if t is not None else (mpf(10) ** -45 if self.name in CORNERS else mpf(1))
        b = [[mpf(v) for v in r] for r in b]
        v = sum(q * row(self.name, self.y[i], self.eta(i, b), t, self.par)[0] for i, q in enumerate(self.q))
        return v + sum(c * b[j][k] ** 2 for j, c in enumerate(self.square) for k in range(self.k)) / 2

    def derivatives(self, b, t):
        size = self.p * self.k
        g, h, v = [mpf(0)] * size, matrix(size, size), mpf(0)
        for i, q in enumerate(self.q):
            val, s, c = row(self.name, self.y[i], self.eta(i, b), t, self.par)
            v += q * val
            x = self.x[i]
            for j in range(self.p):
                for a in range(self.k):
                    g[j * self.k + a] += q * x[j] * s[a]
                    for i2 in range(self.p):
                        for d in range(self.k):
                            if c[a][d] != 0:
                                h[j * self.k + a, i2 * self.k + d] += q * x[j] * x[i2] * c[a][d]
        for j in range(self.p):
            for a in range(self.k):
                v += self.square[j] * b[j][a] ** 2 / 2
                g[j * self.k + a] += self.square[j] * b[j][a]
                h[j * self.k + a, j * self.k + a] += self.square[j]
        return v, g, h

    def newton(self, b, t, rounds, ease):
        size = self.p * self.k
        for _ in range(rounds):
            v, g, h = self.derivatives(b, t)
            norm = max(abs(z) for z in g)
            if norm < mpf(10) ** -35:
                return b, True
            # Levenberg: curvature may vanish
            lam = ease * norm
            for _ in range(80):
                hh = h.copy()
                for a in range(size):
                    hh[a, a] += lam + mpf(10) ** -40
                try:
                    step = lu_solve(hh, matrix(g))
                except ZeroDivisionError:
                    lam = lam * 10 + mpf(10) ** -30
                    continue
                trial = [[b[j][a] - step[j * self.k + a] for a in range(self.k)] for j in range(self.p)]
                fall = sum(g[a] * step[a] for a in range(size))
                if fall > 0 and self.value(trial, t) <= v - fall / 10000:
                    break
                lam = lam * 8 + mpf(10) ** -25
            else:
                return b, False
            b = trial
            if fall < mpf(10) ** -40 * (abs(v) + 1):
                return b, True
        return b, False

    def optimum(self, start=None, rounds=200):
        b = [[mpf(0)] * self.k for _ in range(self.p)] if start is None else [[mpf(float(v)) for v in r] for r in start]
        if not self.p:
            return self.value(b), b, True
        wide = max([abs(v) for r in self.o for v in r] + [mpf(1)])
        wide = max(wide, *(abs(v) for r in self.y for v in r))
        ts = [mpf(1)]
        if self.name in ("logistic", "softmax"):
            t = wide
            ts = []
            while t > 1:
                ts.append(t)
                t /= 4
            ts.append(mpf(1))
        elif self.name in CORNERS:
            t, ts = wide, []
            while t > mpf(10) ** -18:
                ts.append(t)
                t /= 10
        for t in ts:
            b, good = self.newton(b, t, rounds if t == ts[-1] else 60, mpf(10) ** -6)
        return self.value(b), b, good
