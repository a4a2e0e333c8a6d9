"""Spam by counted words, with the split of the textbook: a column called test says which rows are.

lineal fit spambase.csv --target spam --penalty none --split column:test
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="spam", penalty="none", split="column:test")
print(model.verdict.sentence)
print(f"test error {1 - model.report['metrics']['test']['accuracy']:.5f}")
