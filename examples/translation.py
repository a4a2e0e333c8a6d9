"""Translation quality (WMT 2012): effort from the 17 features of the shared task, split as there.

lineal fit wmt12_qe.csv --target effort --model linear --split column:split
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="effort", model="linear", split="column:split")
print(model.verdict.sentence)
print("MAE {mae:.4f}, RMSE {rmse:.4f}".format(**model.report["metrics"]["test"]))
