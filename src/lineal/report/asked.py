"""The first sections of a report: the verdict, what was asked, what the checker says, and the data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from lineal.api.dialects import DIALECTS, Scale, translations
from lineal.plots.kinds.columns import figure_of
from lineal.plots.wording import clean, number
from lineal.report import html
from lineal.report.facts import Facts
from lineal.report.pictures import Gallery


def heading(facts: Facts) -> str:
    """Return the verdict, in its color and in words."""
    verdict = facts.model.verdict
    title = verdict.sentence if verdict.proven else f"Not proven ({verdict.kind.replace('_', ' ')}): {verdict.sentence}"
    if facts.refused:
        title = f"Refused: {facts.refused}"
    parts = [f"<h1>{html.text(title)}</h1>"]
    if facts.refused:
        parts.append(html.sentence(f"The file itself says: {verdict.sentence}"))
    else:
        parts.append(html.sentence(f"{len(facts.checked)} claims of the file were confirmed by lineal verify."))
    parts.append(html.sentence(_inside(facts)))
    return f'<header class="{"good" if facts.proven else "bad"}">{"".join(parts)}</header>'


def _inside(facts: Facts) -> str:
    """Return what of the data this page holds."""
    if not facts.rows:
        return "This page holds no row of the data: figures, curves and the names of columns and levels only."
    return (
        f"This page holds at most {facts.rows:,} rows of the data for every class, as points of pictures and in tables; "
        "--rows 0 leaves them out."
    )


def asked(facts: Facts) -> Iterator[str]:
    """Yield what was asked for, in numbers, in the words of other libraries, and as commands."""
    model, about = facts.model, facts.about["model"]
    yield html.facts(
        [
            ("Target", f"{model.target.name}, {_answers(facts)}"),
            ("Model", about["name"]),
            ("Objective", f"{about['objective'] or 'nothing is minimized'}{_value(about['objective_value'])}"),
            ("Fitted to", f"{model.training.get('rows'):,} rows of {facts.files[1]}"),
        ]
    )
    if about["chosen"]:
        yield html.sentence(f"{str(about['chosen'])[:1].upper()}{str(about['chosen'])[1:]}.")
    yield _dialects(facts)
    yield html.sentence("To fit it again, and to check it with a program that trusts none of this:")
    yield html.code(refit(facts))
    yield html.code(shlex.join(["lineal", "verify", *facts.files]))
    for place, member in enumerate(_members(facts)):
        verdict = member.get("verdict", {})
        name = member.get("question") or member.get("name") or member.get("target") or f"member {place + 1}"
        yield f"<h3>{html.text(f'Member {place + 1}: {name}')}</h3>"
        yield html.sentence(verdict.get("sentence", "") if isinstance(verdict, dict) else verdict)


def _answers(facts: Facts) -> str:
    classes = facts.model.target.classes
    return "a number" if classes is None else f"{len(classes)} classes: {', '.join(clean(one) for one in classes[:12])}"


def _value(value: float | None) -> str:
    return "" if value is None else f"; F = {value:.9g}"


def _members(facts: Facts) -> list[dict[str, Any]]:
    """Return what is known of the members of a committee."""
    several = facts.about["model"].get("multiclass") or facts.about["model"].get("labels") or {}
    return list(several.get("members", ()))


def _dialects(facts: Facts) -> str:
    """Return the strength in the words of other libraries."""
    penalty, training = facts.about["model"].get("penalty") or {}, facts.model.training
    strength = penalty.get("strength")
    if not isinstance(strength, float) or strength <= 0.0 or penalty.get("name") != "ridge":
        return ""
    scale = Scale(int(training["rows"]), float(training["weight_sum"]))
    known = translations(strength, "strength", scale)
    lines = [(one.name, known[one.name], one.formula, one.spoken_by) for one in DIALECTS if known[one.name] is not None]
    return html.folded(
        "The same strength in the words of other libraries",
        html.table(("dialect", "value", "objective", "spoken by"), lines),
    )


def refit(facts: Facts) -> str:
    """Return the command that fits the model again."""
    model, report = facts.model, facts.about["data"]
    words = ["lineal", "fit", facts.files[1], "--target", str(model.target.name)]
    known = report.get("report") or report
    names = [str(one) for one in model.loss.models[:1]] if getattr(model.loss, "models", ()) else []
    names = ["bayes"] if model.variances is not None else names
    words += ["--model", names[0]] if names and model.feature_map is None else []
    penalty = facts.about["model"].get("penalty") or {}
    if penalty.get("name") and model.variances is None:
        strength = penalty.get("strength")
        words += ["--penalty", str(penalty["name"]) if strength is None else f"{penalty['name']}:{strength!r}"]
    if facts.about["model"].get("charges") == "raw":
        words += ["--penalize", "raw"]
    if known.get("formula"):
        words += ["--formula", str(known["formula"])]
    for name, role in model.roles.items():
        words += [f"--{name}", str(role)] if role else []
    split = model.training.get("split")
    if split is None:
        words += ["--test-size", "0"]
    else:
        words += [
            word
            for key in ("seed", "test_size")
            if key in split
            for word in (f"--{key.replace('_', '-')}", f"{split[key]:g}")
        ]
    return shlex.join([*words, "-o", facts.files[0]])


def checked(facts: Facts) -> Iterator[str]:
    """Yield the lines of the checker, each with its mark."""
    from lineal import __version__

    lines = []
    for line in facts.checked:
        mark = '<td class="yes">holds</td>' if line["passed"] else '<td class="no">REFUSED</td>'
        lines.append(f"<tr>{mark}<td>{html.text(line['check'])}</td><td>{html.text(line['detail'], 300)}</td></tr>")
    yield html.sentence(
        f"Checked by lineal verify {__version__}, which reads the file and the data anew, shares no code with what fitted "
        "the model, and stops at the first claim that does not hold."
    )
    head = "<thead><tr><th>mark</th><th>claim</th><th>figures</th></tr></thead>"
    yield f'<div class="wide"><table>{head}<tbody>{"".join(lines)}</tbody></table></div>'
    if facts.refused:
        yield html.sentence(facts.refused, "no")


def data(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield what the rows and columns are."""
    known, model = facts.model.report.get("data", {}), facts.model
    split = model.training.get("split")
    held = known.get("held_out")
    yield html.facts(
        [
            ("Rows fitted", f"{model.training.get('rows'):,}"),
            ("Held out", "none" if not held else f"{held:,}"),
            (
                "Rule of the parts",
                "none" if split is None else ", ".join(f"{key} {value}" for key, value in split.items()),
            ),
            ("Without a target", f"{model.training.get('without_target') or 0:,}"),
        ]
    )
    lines = [
        (one["column"], one["type"], one["missing"], one["levels"] if one["levels"] is not None else "-")
        for one in known.get("columns", ())
    ]
    yield html.table(("column", "type", "missing", "levels"), lines, 200)
    yield html.sentences(known.get("sentences", ())[:200])
    for key, words in (("suspicions", "Suspicions"), ("notes", "Notes"), ("dropped", "Left out"), ("lost", "Lost")):
        if known.get(key):
            yield f"<h3>{words}</h3>" + html.sentences(map(_told, known[key][:100]))
    if not known.get("suspicions"):
        yield html.sentence("No column looks as if it gave the target away.")
    if facts.rows:
        yield gallery.show(lambda: figure_of(dict(facts.subject.cells), facts.subject.sampled))


def _told(one: Any) -> str:
    if isinstance(one, dict):
        return ", ".join(f"{key} {number(value) if isinstance(value, float) else value}" for key, value in one.items())
    return str(one)
