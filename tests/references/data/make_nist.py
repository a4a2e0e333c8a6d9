"""Make `nist/*.csv` and `nist/certified.json` from NIST's files, as Debian's package gretl-data carries them.

    apt-get download gretl-data && dpkg -x gretl-data_*.deb unpacked
    python tests/references/data/make_nist.py unpacked/usr/share/gretl/data/nist

Every number is copied as NIST wrote it, never read as a float. With `--check` nothing is written: the files here are
compared with those that would be made.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "nist"
NAMES = [
    "Norris",
    "Pontius",
    "NoInt1",
    "NoInt2",
    "Filip",
    "Longley",
    "Wampler1",
    "Wampler2",
    "Wampler3",
    "Wampler4",
    "Wampler5",
]


def parts(text: str) -> tuple[dict, list[list[str]]]:
    """Return what is certified, as NIST's strings, and the table of data with its header."""
    lines = [line.strip() for line in text.splitlines()]
    first, last = map(int, re.search(r"Data +\(lines (\d+) to (\d+)\)", text).groups())
    table = [lines[first - 2].removeprefix("Data:").split(), *(line.split() for line in lines[first - 1 : last])]
    stated = {what: int(re.search(rf"(\d+) {what}", text)[1]) for what in ("Observations", "Parameter", "Predictor")}
    parameters = {
        words[0]: {"estimate": words[1], "sd": words[2]}
        for words in map(str.split, lines)
        if len(words) == 3 and re.fullmatch(r"B\d+", words[0])
    }
    _, df, squares, mean, ratio = re.search(r"^Regression .*$", text, re.MULTILINE)[0].split()
    regression = {"df": int(df), "ss": squares, "ms": mean, "f": ratio}
    _, df, squares, mean = re.search(r"^Residual +\d.*$", text, re.MULTILINE)[0].split()
    certified = {
        "difficulty": re.search(r"(Lower|Average|Higher) Level of Difficulty", text)[1].lower(),
        "model": next(line for line in lines if line.startswith("y = ")),
        "n": last - first + 1,
        "columns": table[0],
        "intercept": "B0" in parameters,
        "parameters": parameters,
        "residual_sd": re.search(r"Standard Deviation +(\S+)", text)[1],
        "r_squared": re.search(r"R-Squared +(\S+)", text)[1],
        "regression": regression,
        "residual": {"df": int(df), "ss": squares, "ms": mean},
    }
    found = {"Observations": certified["n"], "Parameter": len(parameters), "Predictor": len(table[0]) - 1}
    if found != stated or {len(row) for row in table} != {len(table[0])}:
        raise SystemExit(f"NIST states {stated}, but {found} were read")
    return certified, table


def main(words: list[str]) -> None:
    check = "--check" in words
    folder = Path(next(word for word in words if word != "--check"))
    certified, files = {}, {}
    for name in NAMES:
        certified[name], table = parts((folder / f"{name}.dat").read_text(encoding="ascii"))
        files[f"{name}.csv"] = "".join(",".join(row) + "\n" for row in table)
    files["certified.json"] = json.dumps(certified, indent=1) + "\n"
    for name, text in files.items():
        if not check:
            (HERE / name).write_text(text, encoding="ascii")
        elif (HERE / name).read_text(encoding="ascii") != text:
            raise SystemExit(f"{name} differs")
    print(f"{len(files)} files {'are the same' if check else 'written'}")


if __name__ == "__main__":
    main(sys.argv[1:])
