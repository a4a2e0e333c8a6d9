"""Forgeries of split, roles, terms, classes and of the data itself."""

from __future__ import annotations

import numpy as np

from .forging import mutation, term
from .honest import SEED, TEST_SIZE, gone, is_test


@mutation("linear", "the number of rows without a target|fingerprint")
def split_seed_altered(case):
    case.meta["training"]["split"]["seed"] += 1


@mutation("linear", "the number of rows without a target|fingerprint")
def share_altered(case):
    case.meta["training"]["split"]["test_size"] = 0.3


@mutation("linear", "the number of rows without a target|fingerprint")
def split_removed(case):
    case.meta["training"]["split"] = None


@mutation("no split", "the number of rows without a target|fingerprint")
def split_invented(case):
    case.meta["training"]["split"] = {"seed": 0, "test_size": 0.1}


@mutation("linear", "the number of training rows is as stated")
def row_count_altered(case):
    case.meta["training"]["rows"] += 1


@mutation("linear weighted", "the sum of the weights is as stated")
def weight_sum_altered(case):
    case.meta["training"]["weight_sum"] += 0.5


@mutation("linear", "the number of rows without a target")
def without_target_altered(case):
    case.meta["training"]["without_target"] = 0


@mutation("linear", "fingerprint")
def fingerprint_altered(case):
    case.meta["training"]["fingerprint"] = "sha256:" + "0" * 64


@mutation("logistic", "the columns are those the terms make")
def level_renamed_in_the_term(case):
    term(case, "island")["levels"][0] = "Bisco"


@mutation("logistic", "every category term")
def level_renamed_everywhere(case):
    term(case, "island")["levels"][0] = "Bisco"
    case.meta["columns"] = [name.replace("Biscoe", "Bisco") for name in case.meta["columns"]]


@mutation("logistic", "every category term")
def levels_reordered(case):
    term(case, "island")["levels"].reverse()
    names = case.meta["columns"]
    a, b = names.index("island=Biscoe"), names.index("island=Torgersen")
    names[a], names[b] = names[b], names[a]


@mutation("logistic", "every category term")
def reference_level_renamed(case):
    """Unknown levels count as the reference: without a look at the levels nothing would change."""
    term(case, "island")["levels"][1] = term(case, "island")["reference"] = "Drear"


@mutation("logistic", "every category term")
def level_invented(case):
    term(case, "island")["levels"].append("Zavodovski")
    case.meta["columns"].insert(-1, "island=Zavodovski")
    case.arrays["coef"] = np.insert(case.arrays["coef"], -1, 0.0, axis=0)
    del case.arrays["covariance"]


@mutation("logistic", "the objective at the coefficients is as stated")
def reference_changed(case):
    term(case, "island")["reference"] = "Biscoe"
    case.meta["columns"] = ["island=Dream" if name == "island=Biscoe" else name for name in case.meta["columns"]]


@mutation("linear", "every number term")
def fill_altered(case):
    term(case, "age")["fill"] += 0.5


@mutation("linear", "every number term")
def fill_of_a_full_column_altered(case):
    """Nothing in the training rows is missing: only the mean itself can tell."""
    term(case, "height")["fill"] += 0.01


@mutation("linear", "every boolean term")
def boolean_fill_altered(case):
    term(case, "smoker")["fill"] += 0.01


@mutation("linear", "every boolean term")
def boolean_swapped(case):
    term(case, "smoker")["true"], term(case, "smoker")["false"] = ["no"], ["yes"]


@mutation("linear", "every boolean term")
def boolean_word_invented(case):
    term(case, "smoker")["true"].append("perhaps")


@mutation("linear", "the columns are those the terms make")
def indicator_dropped(case):
    term(case, "age")["indicator"] = False


@mutation("linear", "the objective at the coefficients is as stated")
def indicator_dropped_everywhere(case):
    term(case, "age")["indicator"] = False
    where = case.meta["columns"].index("age is missing")
    del case.meta["columns"][where], case.arrays["covariance"]
    case.arrays["coef"] = np.delete(case.arrays["coef"], where, axis=0)


@mutation("linear", "the objective at the coefficients is as stated")
def missing_level_dropped_everywhere(case):
    term(case, "island")["missing"] = False
    del case.meta["columns"][-1], case.arrays["covariance"]
    case.arrays["coef"] = case.arrays["coef"][:-1]


@mutation("linear", "fingerprint")
def term_dropped(case):
    case.meta["encoder"]["terms"] = case.meta["encoder"]["terms"][1:]
    del case.meta["columns"][1:3], case.arrays["covariance"]
    case.arrays["coef"] = np.delete(case.arrays["coef"], [1, 2], axis=0)


@mutation("linear", "the columns are those the terms make")
def intercept_dropped(case):
    case.meta["encoder"]["intercept"] = False


@mutation("linear", "the columns are those the terms make")
def columns_swapped(case):
    names = case.meta["columns"]
    names[1], names[3] = names[3], names[1]


@mutation("linear", "the objective at the coefficients is as stated")
def coefficients_swapped(case):
    case.arrays["coef"][[1, 3]] = case.arrays["coef"][[3, 1]]


@mutation("logistic", "the objective at the coefficients is as stated")
def class_order_swapped(case):
    case.meta["target"]["classes"].reverse()


@mutation("softmax", "the objective at the coefficients is as stated")
def softmax_classes_swapped(case):
    classes = case.meta["target"]["classes"]
    classes[0], classes[2] = classes[2], classes[0]


@mutation("logistic", "the classes are those of the training rows")
def class_renamed(case):
    case.meta["target"]["classes"][1] = "yess"


@mutation("softmax", "the coefficients of every column sum to zero")
def gauge_shifted(case):
    case.arrays["coef"][2] += 1.0


@mutation("linear", "fingerprint")
def target_replaced(case):
    case.meta["target"]["name"] = "y2"


@mutation("linear", "the data has every column")
def target_unknown(case):
    case.meta["target"]["name"] = "yy"


@mutation("linear weighted", "fingerprint")
def weight_role_removed(case):
    case.meta["roles"]["weight"] = None


@mutation("linear", "fingerprint")
def weight_role_invented(case):
    case.meta["roles"]["weight"] = "w"


@mutation("linear weighted", "fingerprint")
def offset_role_removed(case):
    case.meta["roles"]["offset"] = None


@mutation("linear weighted", "the objective at the coefficients|every weight")
def roles_swapped(case):
    roles = case.meta["roles"]
    roles["weight"], roles["offset"] = roles["offset"], roles["weight"]


@mutation("logistic", "the objective at the coefficients is as stated")
def loss_replaced(case):
    """The file of a linear model of classes cannot be; a fake of a two-output softmax can."""
    case.meta["loss"] = {"name": "softmax", "outputs": 2}
    half = case.arrays["coef"] / 2
    case.arrays = {"coef": np.hstack([half, -half])}


@mutation("linear", "fingerprint")
def data_cell_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE))
    case.rows[row][1] = repr(float(case.rows[row][1]) * (1 + 2e-16))


@mutation("linear", "fingerprint")
def data_level_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and case.rows[i][3] == "Dream")
    case.rows[row][3] = "Biscoe"


@mutation("linear", "fingerprint")
def data_target_changed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(case.rows[i][6]))
    case.rows[row][6] += "1"


@mutation("linear", "the number of rows without a target")
def data_target_removed(case):
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(case.rows[i][6]))
    case.rows[row][6] = ""


@mutation("no split", "fingerprint")
def data_rows_reordered(case):
    case.rows.reverse()


@mutation("linear", "the number of rows without a target|fingerprint")
def data_row_deleted(case):
    del case.rows[3]


@mutation("no split", "fingerprint")
def data_row_added(case):
    case.rows.append(list(case.rows[0]))


@mutation("linear", "the data has every column")
def data_header_renamed(case):
    case.header[0] = "agee"


@mutation("linear", "fingerprint")
def data_headers_swapped(case):
    case.header[0], case.header[1] = case.header[1], case.header[0]


def spoil(case, column: str, cell: str) -> None:
    """Change a cell of the first training row, and leave the fingerprint out so that only the cell can tell."""
    row = next(i for i in range(len(case.rows)) if not is_test(SEED, i, TEST_SIZE) and not gone(case.rows[i][6]))
    case.rows[row][case.header.index(column)] = cell
    case.meta["training"]["fingerprint"] = None


@mutation("linear", "every target is a finite number")
def data_target_is_text_and_no_fingerprint(case):
    spoil(case, "y", "tall")


@mutation("linear weighted", "every weight is a number of at least 0")
def data_weight_below_zero_and_no_fingerprint(case):
    spoil(case, "w", "-1")


@mutation("linear weighted", "every offset is a finite number")
def data_offset_infinite_and_no_fingerprint(case):
    spoil(case, "off", "inf")


@mutation("linear", "the objective at the coefficients is as stated")
def data_target_changed_and_no_fingerprint(case):
    spoil(case, "y", "4.25")


@mutation("linear", "every number term")
def data_number_is_text_and_no_fingerprint(case):
    spoil(case, "age", "old")


@mutation("not unique", "every number term")
def fill_of_a_dependent_column_altered(case):
    term(case, "half")["fill"] = 0.0


@mutation("squared hinge", "what the stated hash names")
def classes_renamed_under_the_old_hash(case):
    case.meta["target"]["classes"], case.sealed = ["a", "c"], False


@mutation("squared hinge", "what the stated hash names")
def field_added_to_the_target(case):
    case.meta["target"]["unit"] = "EUR"


@mutation("poisson", "what the stated hash names")
def hash_of_another_encoding(case):
    case.meta["encoding"], case.sealed = "sha256:" + "0" * 64, False
