"""The probability of heart disease: the target is a question about a column, and the decision is apart from the fit.

lineal fit heart_cleveland.csv --target "num > 0" -o heart.lineal
lineal evaluate heart.lineal heart_cleveland.csv --threshold 0.2
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="num > 0", test_size=0.2, split="stratified")
print(model.verdict.sentence)
print("log loss {log_loss:.3f}, auc {auc:.3f}".format(**model.report["metrics"]["test"]))
for threshold in (0.5, 0.2):  # missing a patient is worse than a needless examination
    found = lineal.evaluate(model, sys.argv[1], threshold=threshold)
    (_, alarms), (missed, _) = found["confusion"]["counts"]
    print(f"threshold {threshold}: {missed:g} patients missed, {alarms:g} false alarms")
