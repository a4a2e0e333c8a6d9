"""What a question asks for, of six kinds: common fragments of parse trees, beside a bag of words.

lineal fit trec_qc_trees_train.tsv.gz --test-file trec_qc_trees_test.tsv --target label --model kernel-perceptron \
    --kernel tree:0.4 --types grct=verbatim
"""

import sys

import lineal

for name, options in {
    "tree kernel, perceptron": {"model": "kernel-perceptron:tree:0.4", "types": {"grct": "verbatim"}},
    "bag of words, logistic": {"model": "logistic", "drop": ["grct"]},
}.items():
    model = lineal.fit(sys.argv[1], target="label", test=sys.argv[2], **options)
    print(model.verdict.sentence)
    print(f"{name}: accuracy {model.report['metrics']['test']['accuracy']:.3f} on 500 questions")
