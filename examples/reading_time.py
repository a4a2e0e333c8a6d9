"""Reading time of a word in a story: tested on stories that were not read in training.

lineal fit naturalstories_rt.csv --formula "mean_rt_ms ~ word + spline(position, 5) + n_readers" --split group:story
"""

import sys

import lineal

formula = "mean_rt_ms ~ word + spline(position, 5) + n_readers"
model = lineal.fit(sys.argv[1], formula=formula, test_size=0.2, split="group:story")
print(model.verdict.sentence)
measured, baseline = model.report["metrics"]["test"], model.report["metrics"]["baseline"]
print(f"mean absolute error {measured['mae']:.1f} ms, of the mean alone {baseline['mae']:.1f} ms")
