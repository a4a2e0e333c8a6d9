"""SMS spam: a column of free text, and no word about it.

lineal fit sms_spam.tsv --target label
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="label", test_size=0.2, split="stratified")
print(model.verdict.sentence)
print("accuracy {accuracy:.4f}, average precision {average_precision:.4f}".format(**model.report["metrics"]["test"]))
