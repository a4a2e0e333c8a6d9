"""The losses of docs/model-file.md in ball arithmetic: exact values, and slopes whose corners are rounded off by ``mu``.

A corner comes from a maximum over slopes theta in a box or a simplex. Adding ``mu log(distance of theta to each border)``
rounds it off, as an interior-point method does: the minimiser of the rounded loss is within ``O(mu)`` of F*, and every
Newton step exists. Only slopes are rounded, never a value that is reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

Row = list[arb]
Bent = tuple[Row, list[Row]]
"""The slope of a row by its scores, and the derivative of that."""

ZERO, ONE, HALF = arb(0), arb(1), arb(1) / 2
NUMBERS = ("squared", "absolute", "quantile", "huber", "epsilon-insensitive", "squared-epsilon-insensitive", "poisson")
CLOSE = arb(2) ** -400
"""How near to 1 the parts of a point of the simplex add up."""
CORNERS = ("absolute", "quantile", "epsilon-insensitive", "hinge", "crammer-singer")
SMOOTH = ("squared", "poisson", "logistic", "softmax")


@dataclass(frozen=True)
class Loss:
    """One loss by name; ``y`` of a row is a list of numbers, or the number of its class."""

    name: str
    outputs: int
    q: float = 0.5
    threshold: float = 1.0
    epsilon: float = 0.0

    @property
    def smooth(self) -> bool:
        """Whether no corner has to be rounded off."""
        return self.name in SMOOTH

    def value(self, y: Row | int, eta: Row) -> arb:
        """Return the loss of one row, by the words of the table."""
        return VALUES[self.name](self, y, eta)

    def bend(self, y: Row | int, eta: Row, mu: arb) -> Bent:
        """Return slope and curvature of one row, corners rounded off."""
        return BENDS[self.name](self, y, eta, mu)


# ---------------------------------------------------------------- values


def _residual(y: Row | int, eta: Row) -> arb:
    assert isinstance(y, list)
    return eta[0] - y[0]


def _margin(y: Row | int, eta: Row) -> arb:
    """Return z: the score for the later class, its negative for the earlier one."""
    return eta[0] if y == 1 else -eta[0]


def _positive(t: arb) -> arb:
    return t if t > 0 else ZERO


def _sum(values: Row) -> arb:
    return sum(values, ZERO)


def _log_sum_exp(eta: Row) -> arb:
    top = max(eta)
    return top + _sum([(e - top).exp() for e in eta]).log()


def _huber(loss: Loss, y: Row | int, eta: Row) -> arb:
    size, t = abs(_residual(y, eta)), arb(loss.threshold)
    return size * size / 2 if size <= t else t * size - t * t / 2


def _huber_scale(loss: Loss, y: Row | int, eta: Row) -> arb:
    """``(sigma + sigma H(r / sigma)) / 2``, sigma the second score; at sigma = 0 its limit."""
    size, sigma, t = abs(_residual(y, eta)), eta[1], arb(loss.threshold)
    if size <= t * sigma:
        return (sigma + (size * size / sigma if sigma > 0 else ZERO)) / 2
    return (sigma + 2 * t * size - t * t * sigma) / 2


def _sparsemax(loss: Loss, y: Row | int, eta: Row) -> arb:
    """``max_p (p.eta - |p|^2 / 2) + 1/2 - eta_y``: the best p has some support, so all are tried."""
    best: arb | None = None
    for size in range(1, len(eta) + 1):
        for support in itertools.combinations(range(len(eta)), size):
            tau = (_sum([eta[k] for k in support]) - 1) / size
            p = [eta[k] - tau for k in support]
            if all(v >= 0 for v in p):
                found = _sum([v * eta[k] - v * v / 2 for v, k in zip(p, support, strict=True)])
                best = found if best is None or found > best else best
    assert best is not None
    assert isinstance(y, int)
    return best + HALF - eta[y]


def _quantile(loss: Loss, y: Row | int, eta: Row) -> arb:
    r = _residual(y, eta)
    return max(-arb(loss.q) * r, (1 - arb(loss.q)) * r)


def _insensitive(loss: Loss, y: Row | int, eta: Row) -> arb:
    return _positive(abs(_residual(y, eta)) - arb(loss.epsilon))


def _own(y: Row | int) -> int:
    assert isinstance(y, int)
    return y


VALUES: dict[str, Callable[[Loss, Row | int, Row], arb]] = {
    "squared": lambda _, y, eta: _sum([(e - t) * (e - t) for e, t in zip(eta, y, strict=True)]) / 2,
    "absolute": lambda _, y, eta: abs(_residual(y, eta)),
    "quantile": _quantile,
    "huber": _huber,
    "huber-scale": _huber_scale,
    "epsilon-insensitive": _insensitive,
    "squared-epsilon-insensitive": lambda loss, y, eta: _insensitive(loss, y, eta) ** 2 / 2,
    "poisson": lambda _, y, eta: eta[0].exp() - y[0] * eta[0],
    "logistic": lambda _, y, eta: _log_sum_exp([ZERO, -_margin(y, eta)]),
    "hinge": lambda _, y, eta: _positive(1 - _margin(y, eta)),
    "squared-hinge": lambda _, y, eta: _positive(1 - _margin(y, eta)) ** 2 / 2,
    "softmax": lambda _, y, eta: _log_sum_exp(eta) - eta[_own(y)],
    "crammer-singer": lambda _, y, eta: max(e + int(k != y) for k, e in enumerate(eta)) - eta[_own(y)],
    "sparsemax": _sparsemax,
}


# ---------------------------------------------------------------- rounded slopes


def corner(t: arb, mu: arb) -> tuple[arb, arb]:
    """Return a rounded step from 0 to 1 at t = 0, the slope of max(t, 0), and its derivative."""
    s = (t * t + 4 * mu * mu).sqrt()
    return ((s + t) / s / 2 if t > 0 else 2 * mu * mu / s / (s - t)), 2 * mu * mu / (s * s * s)


def ramp(t: arb, mu: arb) -> tuple[arb, arb]:
    """Return a rounded max(t, 0), the slope of max(t, 0)^2 / 2, and its derivative."""
    s = (t * t + 4 * mu).sqrt()
    found = (t + s) / 2 if t > 0 else 2 * mu / (s - t)
    return found, found / s


def simplex(d: Row) -> list[Row]:
    """Return ``diag(d) - d d' / sum d``: how a point of the simplex moves with its scores."""
    total = _sum(d)
    return [[(a if i == j else ZERO) - a * b / total for j, b in enumerate(d)] for i, a in enumerate(d)]


def _level(scores: Row, part: Callable[[arb], tuple[arb, arb]], low: arb, high: arb) -> arb:
    """Return tau with ``sum_k part(score_k, tau) = 1``, the sum falling in tau from ``low`` to ``high``: Newton, safeguarded."""
    tau = (low + high).mid() / 2
    for _ in range(400):
        parts = [part(v - tau) for v in scores]
        excess = (_sum([p for p, _ in parts]) - 1).mid()
        if excess > 0:
            low = tau
        else:
            high = tau
        if abs(excess) < CLOSE:
            break
        step = (tau + excess / _sum([d for _, d in parts])).mid()
        tau = step if low < step < high else ((low + high) / 2).mid()
    return tau


def _project(eta: Row, mu: arb) -> tuple[Row, Row]:
    """Return the rounded nearest point of the simplex, and the derivative of each part by its own score."""
    top = max(eta)
    tau = _level(eta, lambda v: ramp(v, mu), top - 1 - len(eta), top + len(eta) * (1 + mu))
    parts = [ramp(e - tau, mu) for e in eta]
    return [p for p, _ in parts], [d for _, d in parts]


def _vertex(v: Row, mu: arb) -> tuple[Row, Row]:
    """Return ``argmax_p p.v + mu sum log p`` over the simplex: ``p_k = mu / (tau - v_k)``, and its derivatives.

    tau is found by Newton's method on ``1 / sum_k p_k = 1``, whose left side is concave in it, as a distance from the top.
    """
    top = max(v)
    below = [(top - e).mid() for e in v]
    u = (mu * len(v)).mid()
    for _ in range(200):
        p = [mu / (u + e) for e in below]
        total = _sum(p)
        if abs((total - 1).mid()) < CLOSE:
            break
        slope = _sum([a * a for a in p]) / mu / (total * total)
        u = max((u - (1 / total - 1) / slope).mid(), mu)
    return p, [a * a / mu for a in p]


def _scalar(slope: arb, bend: arb) -> Bent:
    return [slope], [[bend]]


def _bend_quantile(q: arb, r: arb, mu: arb) -> Bent:
    up, bend = corner(r, mu)
    return _scalar(up - q, bend)


def _bend_insensitive(loss: Loss, y: Row | int, eta: Row, mu: arb, edge: Callable[[arb, arb], tuple[arb, arb]]) -> Bent:
    r, e = _residual(y, eta), arb(loss.epsilon)
    (up, a), (down, b) = edge(r - e, mu), edge(-r - e, mu)
    return _scalar(up - down, a + b)


def _bend_absolute(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    up, bend = corner(_residual(y, eta), mu)
    return _scalar(2 * up - 1, 2 * bend)


def _bend_huber(loss: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    r, t = _residual(y, eta), arb(loss.threshold)
    (a, da), (b, db) = ramp(r + t, mu), ramp(r - t, mu)
    return _scalar(a - b - t, da - db)


def _bend_huber_scale(loss: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    sigma, t = eta[1], arb(loss.threshold)
    z = _residual(y, eta) / sigma
    (a, da), (b, db) = ramp(z + t, mu), ramp(z - t, mu)
    clip, w = a - b - t, (da - db) / sigma
    return [clip, (1 - clip * clip) / 2], [[w, -w * z], [-w * z, w * z * z]]


def _bend_poisson(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    assert isinstance(y, list)
    mean = eta[0].exp()
    return _scalar(mean - y[0], mean)


def _bend_hinge(_: Loss, y: Row | int, eta: Row, mu: arb, edge: Callable[[arb, arb], tuple[arb, arb]]) -> Bent:
    theta, bend = edge(1 - _margin(y, eta), mu)
    return _scalar(-theta if y == 1 else theta, bend)


def _bend_logistic(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    z = _margin(y, eta)
    wrong, right = 1 / (1 + z.exp()), 1 / (1 + (-z).exp())
    return _scalar(-wrong if y == 1 else wrong, wrong * right)


def _less_own(p: Row, y: Row | int, d: list[Row]) -> Bent:
    return [v - int(k == y) for k, v in enumerate(p)], d


def _bend_softmax(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    top = max(eta)
    parts = [(e - top).exp() for e in eta]
    total = _sum(parts)
    p = [v / total for v in parts]
    return _less_own(p, y, simplex(p))


def _bend_crammer_singer(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    p, d = _vertex([e + int(k != y) for k, e in enumerate(eta)], mu)
    return _less_own(p, y, simplex(d))


def _bend_sparsemax(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    p, d = _project(eta, mu)
    return _less_own(p, y, simplex(d))


def _bend_squared(_: Loss, y: Row | int, eta: Row, mu: arb) -> Bent:
    assert isinstance(y, list)
    same = [[ONE if i == j else ZERO for j in range(len(eta))] for i in range(len(eta))]
    return [e - t for e, t in zip(eta, y, strict=True)], same


BENDS: dict[str, Callable[[Loss, Row | int, Row, arb], Bent]] = {
    "squared": _bend_squared,
    "absolute": _bend_absolute,
    "quantile": lambda loss, y, eta, mu: _bend_quantile(arb(loss.q), _residual(y, eta), mu),
    "huber": _bend_huber,
    "huber-scale": _bend_huber_scale,
    "epsilon-insensitive": lambda loss, y, eta, mu: _bend_insensitive(loss, y, eta, mu, corner),
    "squared-epsilon-insensitive": lambda loss, y, eta, mu: _bend_insensitive(loss, y, eta, mu, ramp),
    "poisson": _bend_poisson,
    "logistic": _bend_logistic,
    "hinge": lambda loss, y, eta, mu: _bend_hinge(loss, y, eta, mu, corner),
    "squared-hinge": lambda loss, y, eta, mu: _bend_hinge(loss, y, eta, mu, ramp),
    "softmax": _bend_softmax,
    "crammer-singer": _bend_crammer_singer,
    "sparsemax": _bend_sparsemax,
}
