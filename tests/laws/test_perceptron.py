"""Laws of the perceptron family, held against a twin in plain Python that computes with fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.errors import InputError
from lineal.ground.deadline import Deadline
from lineal.perceptron.halfspace import exact, judge
from lineal.perceptron.perceptron import TIES, VARIANTS, Plan, order_of, present
from lineal.solvers.presentation import Window
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.perceptron_twin import Twin, wrong

tables = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


def rows_of(x, y, weight=None, *, intercept=True):
    return Memory(as_design(x, intercept=intercept), np.asarray(y, dtype=float), weight)


@settings(max_examples=120, deadline=None)
@given(
    tables,
    st.sampled_from(sorted(TIES)),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, 2), min_size=7, max_size=7),
)
def test_runs_are_those_of_the_twin(table, tie, several, intercept, weights):
    x, y = np.array(table[0], dtype=float), np.array(table[1])
    outputs = 3 if several else 1
    y = y if several else (y > 0).astype(int)
    repeats = np.array(weights[: len(y)], dtype=float)
    repeats[0] = max(repeats[0], 1)
    wide = np.hstack([np.ones((len(x), 1)), x]) if intercept else x
    twin = Twin(wide, y, outputs, tie, 12, repeats)
    twin.tie = tie
    source = rows_of(x, y, repeats, intercept=intercept)
    for variant in VARIANTS:
        run = present(source, outputs, Plan(tie=tie, variant=variant, epochs=12))
        assert np.array_equal(run.coef, twin.w)
        assert (run.mistakes, run.epochs, run.clean, run.repeated) == (
            twin.mistakes, twin.epochs, twin.clean, twin.repeated,
        )  # fmt: skip
        assert run.radius == pytest.approx(np.sqrt((wide[repeats > 0] ** 2).sum(axis=1).max()), rel=1e-15)
        if variant == "averaged":
            np.testing.assert_allclose(run.average, twin.average, atol=1e-12)
        if variant == "voted":
            assert np.array_equal(run.voters.tally(source.block.design), twin.tally(wide))
        if variant == "pocket":
            assert np.array_equal(run.pocket, twin.pocket(wide, y, tie, repeats)[0])


@pytest.mark.parametrize("tie", sorted(TIES))
@pytest.mark.parametrize("several", [False, True])
def test_the_pocket_holds_the_best_weights_visited(tie, several, monkeypatch):
    """Against brute force over all states, also where few rows come first, looks are short and rows come in blocks."""
    rng = np.random.default_rng(11 + several)
    outputs = 3 if several else 1
    counted = []
    for trial in range(40):
        n, p = int(rng.integers(5, 40)), int(rng.integers(1, 5))
        x = rng.integers(-4, 5, size=(n, p)).astype(float)
        y = (x[:, 0] + rng.normal(scale=2, size=n) > 0).astype(int) + several * rng.integers(0, 2, size=n)
        weight = rng.integers(0, 4, size=n).astype(float) if trial % 2 else None
        if weight is not None:
            weight[0] = 1.0
        monkeypatch.setattr("lineal.perceptron.pocket.COUNTS_BETWEEN_CHOICES", 3)
        monkeypatch.setattr("lineal.perceptron.pocket.STATES_MAX", [256, 7, 1][trial % 3])
        monkeypatch.setattr("lineal.perceptron.pocket.SCORES_MAX", [2**19, 50][trial % 2])
        start = rng.integers(-3, 4, size=(p + 1, outputs)).astype(float) if trial % 5 == 0 else None
        source = rows_of(sparse.csr_array(x) if trial % 4 == 0 else x, y, weight)
        if trial % 4 == 1:
            whole = source.block
            source = Blocks([Block(whole.design.slice(a, b), whole.y[a:b], None if weight is None else weight[a:b], None, a)
                             for a, b in ((0, n // 2), (n // 2, n))], source.columns)  # fmt: skip
        run = present(source, outputs, Plan(tie=tie, variant="pocket", epochs=6), start)
        repeats = np.ones(n) if weight is None else weight
        wide = np.hstack([np.ones((n, 1)), x])
        began = None if start is None else [[Fraction(v) for v in row] for row in start.T]
        twin = Twin(wide, y, outputs, tie, 6, repeats, began)
        best, fewest = twin.pocket(wide, y, tie, repeats)
        assert np.array_equal(run.pocket, best)
        counted.append((fewest, int(np.array_equal(run.pocket, run.coef)), len(twin.votes)))
    assert sum(last for _, last, _ in counted) < 20, "the last weights are rarely the best, or this would test nothing"
    assert max(states for _, _, states in counted) > 60


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from(sorted(TIES)), st.booleans(), st.booleans())
def test_verdicts_prove_what_they_say(table, tie, several, intercept):
    """Signs and sums are computed once more in fractions; both answers occur, and none is a guess."""
    x, y = np.array(table[0], dtype=float), np.array(table[1])
    y = y if several else (y > 0).astype(int)
    outputs = 3 if several else 1
    wide = np.hstack([np.ones((len(x), 1)), x]) if intercept else x
    source = rows_of(x, y, intercept=intercept)
    plan = Plan(tie=tie, epochs=4, seed=1)
    run = present(source, outputs, plan)
    found = judge(source, run, plan, bound=True)
    evidence = found.verdict.evidence
    z = [
        np.kron((np.eye(outputs)[own] - np.eye(outputs)[k]) if several else [1 if own else -1], row)
        for row, own in zip(wide, y, strict=True)
        for k in range(outputs)
        if not several or k != own
    ]
    if found.verdict.kind == "not_separable":
        assert 1 <= len(evidence["rows"]) <= np.linalg.matrix_rank(np.array(z)) + 1
        total = [Fraction(0)] * (wide.shape[1] * outputs)
        against = evidence["against"] or [0] * len(evidence["rows"])
        for i, a, k in zip(evidence["rows"], evidence["weights"], against, strict=True):
            assert int(a) > 0
            one = (np.eye(outputs)[y[i]] - np.eye(outputs)[k]) if several else np.array([1.0 if y[i] else -1.0])
            total = [t + int(a) * Fraction(float(v)) for t, v in zip(total, np.kron(one, wide[i]), strict=True)]
        assert not any(total)
        return
    assert found.verdict.kind == "separated"
    w = [[Fraction(v) for v in row] for row in evidence["w"]]
    margins = []
    for row, own in zip(wide, y, strict=True):
        scores = [sum(Fraction(float(a)) * wk[k] for a, wk in zip(row, w, strict=True)) for k in range(outputs)]
        assert not wrong(scores, int(own), tie)[0]
        margins += [scores[0] if own else -scores[0]] if outputs == 1 else [
            scores[own] - s for k, s in enumerate(scores) if k != own
        ]  # fmt: skip
    norm = np.linalg.norm(np.array(evidence["w"]))
    assert evidence["strict"] == (min(margins) > 0)
    assert evidence["margin"] == pytest.approx(float(min(margins)) / norm if norm else 0.0, rel=1e-14)
    if evidence["strict"]:
        wide_margin = evidence["maximum_margin"]
        assert evidence["margin"] <= wide_margin["gamma_upper"] * (1 + 1e-12)
        if evidence["by"] == "perceptron":
            factor = 2 if several else 1
            assert run.mistakes <= factor * (run.radius / wide_margin["gamma_upper"]) ** 2 * (1 + 1e-6)
            assert evidence["within_bound"] is True


def test_all_ways_to_store_rows_give_the_same_bits():
    rng = np.random.default_rng(3)
    n = 300
    x = (rng.normal(size=(n, 19)) * (rng.random((n, 19)) < 0.6)).astype(np.float32)
    for outputs in (1, 4):
        y = np.argmax(x[:, : max(outputs, 2)] + rng.normal(size=(n, max(outputs, 2))), axis=1)
        wide = x.astype(np.float64)
        frozen = wide.copy()
        frozen.flags.writeable = False
        stored = [
            wide, x, np.asfortranarray(wide), frozen, np.repeat(wide, 2, axis=1)[:, ::2],
            sparse.csr_matrix(wide), sparse.csc_matrix(x), sparse.csr_array(wide),
        ]  # fmt: skip
        for plan in (
            Plan(epochs=5),
            Plan(epochs=5, seed=7, variant="averaged"),
            Plan(epochs=3, seed=1, variant="pocket"),
        ):
            expected = present(rows_of(wide, y), outputs, plan)
            for other in stored:
                run = present(rows_of(other, y), outputs, plan)
                assert np.array_equal(run.coef, expected.coef)
                assert np.array_equal(run.kept, expected.kept)
                assert run.mistakes == expected.mistakes
            design = as_design(wide)
            pieces = [Block(design.slice(a, b), y[a:b, None].astype(float)) for a, b in ((0, 1), (1, 150), (150, n))]
            assert np.array_equal(present(Blocks(pieces), outputs, plan).coef, expected.coef)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 15, 17, 50, 63, 64, 65, 130])
@pytest.mark.parametrize("calm", [True, False])
def test_short_cuts_decide_nothing_else(columns, calm):
    """A voted run scores every row in full; plain runs, where only signs matter, must end with the same bits."""
    rng = np.random.default_rng(columns)
    n = 400
    x = rng.integers(-3, 4, size=(n, columns)) / 10.0  # sums that are 0 but for rounding are frequent
    y = (x[:, 0] + 2.0 * x[:, -1] > 0.0).astype(float) if calm else rng.integers(0, 2, size=n).astype(float)
    for intercept, tie, seed in itertools.product((True, False), TIES, (None, 5)):
        plan = {"tie": tie, "seed": seed, "epochs": 12, "rate": 0.1}
        start = np.full((columns + intercept, 1), -0.0)
        full = present(rows_of(x, y, intercept=intercept), 1, Plan(variant="voted", **plan), start)
        for stored in (x, sparse.csr_array(x)):
            run = present(rows_of(stored, y, intercept=intercept), 1, Plan(**plan), start)
            assert run.coef.tobytes() == full.coef.tobytes()
            assert (run.mistakes, run.presented, run.radius) == (full.mistakes, full.presented, full.radius)
        single = rows_of(x.astype(np.float32), y, intercept=intercept)
        stored = rows_of(sparse.csr_array(x.astype(np.float32)), y, intercept=intercept)
        runs = [present(single, 1, Plan(variant=v, **plan), start) for v in ("plain", "voted")]
        runs += [present(stored, 1, Plan(**plan), start)]
        assert {run.coef.tobytes() for run in runs} == {runs[0].coef.tobytes()}


@pytest.mark.parametrize("columns", [9, 64, 203, 530])
@pytest.mark.parametrize("whole", [True, False])
def test_zeros_that_are_spared_change_no_bit(columns, whole):
    """Rows of several classes that are mostly zeros, as pictures are, against the full scores of a voted run."""
    rng = np.random.default_rng(columns)
    n, blocks = 150, -(-columns // 16)
    x = rng.integers(-3, 4, size=(n, columns)) / 10.0 if whole else rng.normal(size=(n, columns))
    x *= np.repeat(rng.random((n, blocks)) < 0.25, 16, axis=1)[:, :columns]
    shifted = np.empty(n * columns + 3)[3:].reshape(n, columns)  # rows that do not begin with a cache line
    shifted[:] = x
    for outputs, tie, seed in itertools.product((2, 3, 11), TIES, (None, 5)):
        y = rng.integers(0, outputs, size=n).astype(float)
        plan = {"tie": tie, "seed": seed, "epochs": 4, "rate": 0.1}
        for stored in (shifted, x.astype(np.float32)):
            for intercept in (True, False):
                start = np.full((columns + intercept, outputs), -0.0)
                rows = rows_of(stored, y, intercept=intercept)
                full = present(rows, outputs, Plan(variant="voted", **plan), start)
                run = present(rows, outputs, Plan(**plan), start)
                assert run.coef.tobytes() == full.coef.tobytes()
                assert (run.mistakes, run.presented, run.radius) == (full.mistakes, full.presented, full.radius)


def test_categories_are_columns_of_ones():
    rng = np.random.default_rng(4)
    codes = rng.integers(-1, 5, size=80).astype(np.int32)
    x = np.round(rng.normal(size=(80, 3)) * 4)
    hot = (codes[:, None] == np.arange(5)).astype(float)
    for outputs in (1, 3):
        y = rng.integers(0, max(outputs, 2), size=80).astype(float)
        stacked = Memory(HStack([Ones(80), Dense(x), Categorical(codes, 5)]), y)
        for plan in (Plan(epochs=6), Plan(epochs=6, variant="voted")):
            run = present(stacked, outputs, plan)
            assert np.array_equal(run.coef, present(rows_of(np.hstack([x, hot]), y), outputs, plan).coef)


def test_the_order_follows_contents_so_that_weights_are_repeats_and_sorting_changes_nothing():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(40, 3)), rng.integers(0, 2, size=40)
    weight = rng.integers(0, 4, size=40).astype(float)
    plan = Plan(epochs=7, seed=11)
    run = present(rows_of(x, y, weight), 1, plan)
    many = np.repeat(np.arange(40), weight.astype(int))
    assert np.array_equal(present(rows_of(x[many], y[many]), 1, plan).coef, run.coef)
    mixed = rng.permutation(many)
    assert np.array_equal(present(rows_of(x[mixed], y[mixed]), 1, plan).coef, run.coef)
    assert not np.array_equal(present(rows_of(x, y, weight), 1, Plan(epochs=7, seed=12)).coef, run.coef)
    rows = Window(list(rows_of(x, y).blocks()))
    from lineal import _core

    view = _core.Presenter([(p, target, None, None) for p, target, _, _ in rows.segments], 4, 1, True)
    orders = [order_of(view, rows, 4, 1)(epoch) for epoch in (1, 2)]
    assert all(np.array_equal(np.sort(order), np.arange(40)) for order in orders)
    assert not np.array_equal(*orders)


@pytest.mark.parametrize("seed", range(50))
def test_separable_rows_always_end_separated(seed):
    """Also where the perceptron would need thousands of epochs; half of the sets have three classes."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 60)), int(rng.integers(1, 6))
    x = rng.normal(size=(n, p)) * rng.choice([1e-3, 1.0, 100.0], size=p)
    outputs = 1 if seed % 2 else 3
    score = x @ rng.normal(size=(p, max(outputs, 1))) + rng.normal(size=outputs) * 0.1
    y = np.argmax(score, axis=1) if outputs > 1 else (score[:, 0] > 0).astype(int)
    plan = Plan(epochs=50, seed=0)
    source = rows_of(x, y)
    found = judge(source, present(source, outputs, plan), plan)
    assert found.verdict.kind == "separated", found.verdict.sentence
    assert exact(source, found.coef, "mistake", 1.0).wrong == 0


def test_a_repeated_state_is_named_and_weights_stay_bounded():
    x, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    source = rows_of(x, y)
    run = present(source, 1, Plan(epochs=1000))
    assert run.repeated is not None
    assert run.epochs < 20
    longer = present(source, 1, Plan(epochs=5000, seed=2))
    assert longer.longest <= 10.0
    verdict = judge(source, run, Plan(), oracle=False).verdict
    assert verdict.kind == "budget"
    assert "again" in verdict.sentence
    assert verdict.evidence["repeated_state"] == list(run.repeated)
    assert judge(source, run, Plan()).verdict.kind == "not_separable"


def test_clean_in_floating_point_only_is_not_believed():
    """1e16 + 1 is 1e16 in doubles: the score of a row can come out right although exactly it is not."""
    x = np.array([[1e16, 1.0, -1e16], [0.0, -1.0, 0.0]])
    y = np.array([0, 1])
    source = rows_of(x, y, intercept=False)
    w = np.array([[1.0], [1.0], [1.0]])
    assert exact(source, w, "negative", 2e16).wrong == 2
    assert exact(source, np.array([[0.0], [-1.0], [0.0]]), "mistake", 2e16).wrong == 0


def test_gaps_of_2e_9_are_seen_in_any_unit():
    for apart, kind in ((2e-9, "separated"), (-2e-9, "not_separable")):
        for unit in (1.0, 1e6):
            x = np.array([[0.0], [1.0 - apart / 2], [1.0 + apart / 2], [2.0]]) * unit
            source = rows_of(x, np.array([0, 0, 1, 1]))
            plan = Plan(epochs=20)
            assert judge(source, present(source, 1, plan), plan).verdict.kind == kind


def test_hard_rows():
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1])
    with pytest.raises(InputError, match="whole number"):
        present(rows_of(x, y, np.array([0.5, 1.0])), 1, Plan())
    shifted = Memory(as_design(x), y.astype(float), offset=np.ones((2, 1)))
    with pytest.raises(InputError, match="no offset"):
        present(shifted, 1, Plan())
    huge = rows_of(np.array([[1e200], [-1e200], [0.5e200]]), np.array([0, 1, 1]))
    plan = Plan(epochs=30)
    assert judge(huge, present(huge, 1, plan), plan).verdict.kind == "separated"
    wide = rows_of(np.random.default_rng(0).normal(size=(4, 60)), np.array([0, 1, 0, 1]))
    assert judge(wide, present(wide, 1, plan), plan).verdict.kind == "separated"
    one = rows_of(x[:1], y[:1])
    assert judge(one, present(one, 1, plan), plan).verdict.kind == "separated"
    same = rows_of(np.array([[1.0], [1.0]]), y)
    verdict = judge(same, present(same, 1, plan), plan).verdict
    assert verdict.kind == "not_separable"
    assert sorted(verdict.evidence["rows"]) == [0, 1]
    stopped = present(rows_of(x, y), 1, Plan(deadline=Deadline.after(0.0)))
    assert "time limit" in stopped.stopped
    assert stopped.radius == pytest.approx(np.sqrt(26.0))  # also of rows that were not presented
    assert judge(rows_of(x, y), stopped, Plan(), oracle=False).verdict.kind == "budget"


def test_recorded_presentations_are_those_of_the_run():
    rng = np.random.default_rng(9)
    x, y = rng.integers(-3, 4, size=(12, 2)).astype(float), rng.integers(0, 3, size=12)
    for tie, outputs in itertools.product(TIES, (1, 3)):
        target = y if outputs > 1 else (y > 0).astype(int)
        plan = Plan(tie=tie, epochs=4, record=100_000)
        run = present(rows_of(x, target), outputs, plan)
        plain = present(rows_of(x, target), outputs, Plan(tie=tie, epochs=4))
        assert np.array_equal(run.coef, plain.coef)
        assert sum(not line.correct for line in run.ledger) == run.mistakes
        w = np.zeros((3, outputs))
        for line in run.ledger:
            assert np.array_equal(line.weights, w)
            row = np.append(1.0, x[line.row])
            assert np.array_equal(line.score, row @ w)
            bad, rival = wrong(list(line.score), int(target[line.row]), tie)
            assert line.correct is not bad
            w = w + np.outer(row, line.signs)
            if bad and outputs > 1:
                assert line.signs[rival] == -1.0
        assert np.array_equal(w, run.coef)
        assert list(run.ledger.to_frame().columns) == [
            "epoch", "step", "row_index", "weights", "score", "angle", "correct", "update", "x", "signs",
            "score_after",
        ]  # fmt: skip
