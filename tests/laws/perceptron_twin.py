"""The perceptron family in plain Python and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def guess(scores, tie):
    """The predicted class by the notes' rules."""
    if len(scores) == 1:
        return int(scores[0] >= 0) if tie == "positive" else int(scores[0] > 0)
    best = max(scores)
    places = [k for k, score in enumerate(scores) if score == best]
    return places[-1] if tie == "positive" else places[0]


def wrong(scores, own, tie):
    """Whether it is a mistake, and the class whose weights lose."""
    if len(scores) == 1:
        tied = tie == "mistake" and scores[0] == 0
        return tied or guess(scores, tie) != own, 1 - own
    others = [k for k in range(len(scores)) if k != own]
    best = max(scores[k] for k in others)
    rivals = [k for k in others if scores[k] == best]
    rival = rivals[-1] if tie == "positive" else rivals[0]
    if tie == "mistake":
        return best >= scores[own], rival
    return guess(scores, tie) != own, rival


class Twin:
    """A perceptron in fractions, one row after another."""

    def __init__(self, x, y, outputs, tie, epochs, repeats=None, start=None):
        x = [[Fraction(float(v)) for v in row] for row in x]
        p = len(x[0])
        w = [[Fraction(0)] * p for _ in range(outputs)] if start is None else start
        self.mistakes = self.epochs = 0
        self.clean, self.repeated = False, None
        self.votes = [(w, 0)]
        total = [[Fraction(0)] * p for _ in range(outputs)]
        shown = 0
        seen = {str(w): 0}
        order = [i for i in range(len(x)) for _ in range(1 if repeats is None else int(repeats[i]))]
        for epoch in range(1, epochs + 1):
            before = self.mistakes
            for i in order:
                scores = [sum(a * b for a, b in zip(wk, x[i], strict=True)) for wk in w]
                bad, rival = wrong(scores, int(y[i]), tie)
                if bad:
                    self.mistakes += 1
                    changes = {0: 1 if y[i] == 1 else -1} if outputs == 1 else {int(y[i]): 1, rival: -1}
                    w = [[a + changes.get(k, 0) * b for a, b in zip(wk, x[i], strict=True)] for k, wk in enumerate(w)]
                    self.votes.append((w, 1))
                else:
                    self.votes[-1] = (w, self.votes[-1][1] + 1)
                shown += 1
                total = [[a + b for a, b in zip(tk, wk, strict=True)] for tk, wk in zip(total, w, strict=True)]
            self.epochs = epoch
            if self.mistakes == before:
                self.clean = True
                break
            if str(w) in seen:
                self.repeated = (seen[str(w)], epoch)
                break
            seen[str(w)] = epoch
        self.w = np.array([[float(v) for v in row] for row in w]).T
        self.average = np.array([[float(v / shown) for v in row] for row in total]).T

    def pocket(self, x, y, tie, repeats):
        """The first of all weights held with the fewest mistakes, each counted on every row; and that count."""
        rows = [
            ([Fraction(float(v)) for v in row], int(own), int(s)) for row, own, s in zip(x, y, repeats, strict=True)
        ]
        counts = [
            sum(
                s
                for row, own, s in rows
                if wrong([sum(a * b for a, b in zip(wk, row, strict=True)) for wk in w], own, tie)[0]
            )
            for w, _ in self.votes
        ]
        first = counts.index(min(counts))
        return np.array([[float(v) for v in row] for row in self.votes[first][0]]).T, counts[first]

    def tally(self, x):
        """Votes by brute force."""
        found = []
        for cells in x:
            row = [Fraction(float(v)) for v in cells]
            many = len(self.votes[0][0])
            total = [0.0] * many
            for w, count in self.votes:
                scores = [sum(a * b for a, b in zip(wk, row, strict=True)) for wk in w]
                k = guess(scores, self.tie)
                if many == 1:
                    total[0] += count if k == 1 else -count
                else:
                    total[k] += count
            found.append(total)
        return np.array(found)
