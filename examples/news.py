"""Forty Reuters reports, acquisitions or crude oil: common subsequences of four letters, beside a bag of words.

lineal fit reuters40.tsv --target label --model svm --kernel "string:ssk,4,0.5;strength=0.01" --split stratified
"""

import sys

import lineal

for name, model in {
    "subsequence kernel": "kernel-svm:string:ssk,4,0.5;strength=0.01",
    "bag of words, logistic": "logistic",
}.items():
    fitted = lineal.fit(sys.argv[1], target="label", model=model, test_size=0.25, split="stratified")
    print(fitted.verdict.sentence)
    print(f"{name}: accuracy {fitted.report['metrics']['test']['accuracy']:.3f} on 10 reports held out")
