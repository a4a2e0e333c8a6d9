"""Which stretches of DNA are promoters: the spectrum kernel of 57 letters, beside counts of the same four letters.

lineal fit promoters.csv --target label --model svm --kernel "spectrum:4;strength=0.01"
"""

import sys

import lineal

for name, options in {
    "spectrum kernel": {"model": "kernel-svm:spectrum:4;strength=0.01"},
    "bag of four letters, logistic": {"model": "logistic", "text": {"sequence": "characters=4"}},
}.items():
    folds = lineal.cross_validate(sys.argv[1], target="label", folds=10, **options)
    print(folds.verdict.sentence)
    print(f"{name}: accuracy {folds.metrics['accuracy'].mean:.3f} in 10 folds")
