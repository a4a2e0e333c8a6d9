"""Categories of very many levels, such as words: each has a score, memory allowing, or shares one with others."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.feature_extraction import DictVectorizer

import lineal
from lineal.cli import lineal as command
from lineal.estimators import Perceptron

TAGS = 5


def corpus(rows, words=24_000, seed=0):
    """Words by Zipf's law, each with a tag; a third of them has another one now and then."""
    rng = np.random.default_rng(seed)
    share = np.arange(1.0, words + 1) ** -0.75
    own, other, torn = (rng.integers(k, size=words) for k in (TAGS, TAGS, 3))
    drawn = rng.choice(words, size=rows, p=share / share.sum())
    tags = np.where(rng.random(rows) < np.where(torn[drawn] == 0, 0.2, 0.01), other[drawn], own[drawn])
    return [f"w{word}" for word in drawn], [f"T{tag}" for tag in tags], rng.choice(["a", "b"], size=rows).tolist()


@pytest.fixture(scope="module")
def tagged():
    words, tags, case = corpus(36_000)
    return {"word": words, "case": case, "tag": tags}


def parts(table, cut=30_000):
    return tuple({name: cells[part] for name, cells in table.items()} for part in (slice(cut), slice(cut, None)))


@pytest.mark.slow
def test_the_words_of_a_tagging_task_reach_a_dict_vectorizer_with_a_perceptron(tagged):
    train, test = parts(tagged)
    assert len(set(train["word"])) > 10_000
    model = lineal.fit(train, target="tag", test=test, test_size=0.0)
    assert model.verdict.kind == "optimal"
    right = model.report["metrics"]["test"]["accuracy"]
    vectorizer = DictVectorizer()
    rows = [[{"word": w, "case": c} for w, c in zip(t["word"], t["case"], strict=True)] for t in (train, test)]
    seen = vectorizer.fit_transform(rows[0])
    rival = Perceptron().fit(seen, train["tag"]).score(vectorizer.transform(rows[1]), test["tag"])
    counts = defaultdict(Counter)
    for word, tag in zip(train["word"], train["tag"], strict=True):
        counts[word][tag] += 1
    common = Counter(train["tag"]).most_common(1)[0][0]
    guess = [counts[w].most_common(1)[0][0] if w in counts else common for w in test["word"]]
    frequent = np.mean([tag == found for tag, found in zip(test["tag"], guess, strict=True)])
    assert right > rival
    assert right > frequent - 0.005  # a word's most frequent tag is the best rule here
    assert frequent > 0.6


@pytest.mark.parametrize(
    ("spelling", "columns"),
    [("category", 1500), ("category:max=40", 39 + 1), ("category:max=40,hash=2^6", 40 + 64), ("category:hash=2^6", 64)],
)
def test_a_model_of_many_levels_is_verified(tmp_path, spelling, columns):
    words, tags, _ = corpus(4000, 1500)
    words += [f"w{k}" for k in range(1500)]  # each at least once
    tags += ["T0"] * 1500
    data, model = tmp_path / "t.csv", tmp_path / "m.lineal"
    data.write_text("word,tag\n" + "".join(f"{w},{t}\n" for w, t in zip(words, tags, strict=True)))
    run = CliRunner().invoke
    fitted = run(command, ["fit", str(data), "--target", "tag", "--types", f"word={spelling}", "--penalty", "ridge:0.001",
                           "--test-size", "0", "-o", str(model)])  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert len(lineal.load(model).columns) == 1 + columns
    checked = run(command, ["verify", str(model), str(data)])
    assert checked.exit_code == 0, checked.output
    other = tmp_path / "new.csv"
    other.write_text("word\nw0\nnever\n")
    predicted = run(command, ["predict", str(model), str(other), "--json"])
    assert predicted.exit_code == 0, predicted.output


def test_levels_never_seen_count_for_nothing_where_there_is_no_reference():
    words, tags, _ = corpus(3000, 1100)
    words += [f"w{k}" for k in range(1100)]
    tags += ["T0"] * 1100
    model = lineal.fit({"word": words, "tag": tags}, target="tag", penalty=0.01, test_size=0.0)
    probability = model.predict_proba({"word": ["never"]})
    level = np.exp(model.coef[0] - model.coef[0].max())
    assert probability[0] == pytest.approx(level / level.sum(), rel=1e-12)


def test_max_levels_is_an_option_of_every_command_that_decides_and_of_recipes(tmp_path):
    data = tmp_path / "t.csv"
    rows = [("abcdefgh"[k * k % 11 % 8], k % 2, k % 3) for k in range(200)]
    data.write_text("c,x,y\n" + "".join(f"{c},{x},{y}\n" for c, x, y in rows))
    counts = Counter(c for c, _, _ in rows)
    first = sorted(counts, key=lambda level: (-counts[level], level))[:2]
    run = CliRunner().invoke
    seen = run(
        command, ["inspect", str(data), "--target", "y", "--max-levels", "2", "--json", "--recipe", str(tmp_path / "r")]
    )
    assert seen.exit_code == 0, seen.output
    assert "those beyond the 2 most frequent share a column" in json.loads(seen.stdout)["columns"][0]["decision"]
    assert 'c = "category:max=2"' in (tmp_path / "r").read_text()
    (tmp_path / "own").write_text("max_levels = 2\n")
    for more in (["--max-levels", "2"], ["--recipe", str(tmp_path / "r")], ["--recipe", str(tmp_path / "own")]):
        fitted = run(
            command, ["fit", str(data), "--target", "y", "-o", str(tmp_path / "m"), "--json", "--test-size", "0", *more]
        )
        assert fitted.exit_code == 0, fitted.output
        assert [c for c in lineal.load(tmp_path / "m").columns if c.startswith("c=")] == [f"c={first[1]}", "c=(rare)"]
    with pytest.raises(lineal.InputError, match="takes max=N and hash=2"):
        lineal.fit(data, target="y", types={"c": "category:most=2"})
    with pytest.raises(lineal.InputError, match="max_levels is 0"):
        lineal.fit({"a": ["u", "v"], "y": [1, 2]}, target="y", max_levels=0)
    with pytest.raises(lineal.InputError, match="without levels"):
        lineal.fit(np.eye(3), target=[1.0, 2, 3], max_levels=2)
