"""Four kinds of tumour from 2308 genes and 63 patients: far more columns than rows.

lineal fit khan_srbct.csv.gz --target class --model svm --split column:split
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="class", model="svm", split="column:split")
print(model.verdict.sentence)
counts = model.report["evaluation"]["confusion"]["counts"]
errors = sum(map(sum, counts)) - sum(row[k] for k, row in enumerate(counts))
print(f"{errors:g} of {sum(map(sum, counts)):g} test patients wrong")
