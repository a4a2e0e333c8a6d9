"""Credit approval: 690 applications, numbers and categories mixed, 67 cells missing; nothing is prepared by hand.

lineal fit credit_approval.csv --target approved --split stratified
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="approved", test_size=0.2, split="stratified")
print(model.verdict.sentence)
print(f"accuracy on held-out applications {model.report['metrics']['test']['accuracy']:.3f}")
low, high = model.report["evaluation"]["intervals"]["accuracy"]
print(
    f"95 % interval {low:.3f} to {high:.3f}; always the larger class {model.report['metrics']['baseline']['accuracy']:.3f}"
)
