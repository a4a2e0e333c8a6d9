"""Translation quality from the sentences themselves: features of each pair, learned from the training pairs only.

lineal fit wmt12_qe_text.jsonl.gz --target effort --model linear --text source:pair=mt --drop post_edit --drop scores \
    --split column:split
"""

import sys

import lineal

model = lineal.fit(
    sys.argv[1],
    target="effort",
    model="linear",
    text=["source:pair=mt"],
    drop=["post_edit", "scores"],
    split="column:split",
)
print(model.verdict.sentence)
print("MAE {mae:.3f}, RMSE {rmse:.3f}".format(**model.report["metrics"]["test"]))
