"""True or fake news in Spanish: headline and text, quoted cells of many lines; the second file tests what the first taught.

lineal fit fakenews_es_train.csv.gz --target Category --drop Source --test-file fakenews_es_development.csv.gz
"""

import sys

import lineal

model = lineal.fit(sys.argv[1], target="Category", drop=["Source"], test=sys.argv[2])
print(model.verdict.sentence)
print(f"accuracy {model.report['metrics']['test']['accuracy']:.3f}")
