"""What a user hands to fit and predict, checked once and copied never where it is already C-ordered floats.

scikit-learn's own validation costs more than a small fit, so plain arrays and CSR pass by a short way with the same refusals;
everything else (lists, data frames, other sparse formats, memory maps, odd types) goes through ``validate_data``.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import narwhals
import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, check_X_y, validate_data

from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.inputs import FLOATS, class_labels, names_of, real


def features_and_target(
    estimator: Any, X: Any, y: Any, *, numeric: bool, several: bool | None = None
) -> tuple[Any, npt.NDArray[Any]]:
    """Return X and y checked, and note on the estimator which features it saw.

    ``numeric`` targets are numbers, others labels. They may have several columns where ``several`` says so; numbers may unless
    it says otherwise.
    Whether arrays and CSR are finite is left to the caller, who reads them anyway: the survey of a fit refuses the others.
    """
    several = numeric if several is None else several
    X = sound(X) if is_sparse(X) else X
    short = _plain(X) or _compressed(X)
    if short and type(y) is np.ndarray and len(y) == X.shape[0] and _simple(y, several):
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return X, real(y, "y") if numeric else y
    if is_sparse(y):
        raise InputError("the target y is a sparse matrix; give a dense array.")
    if y is not None:
        y = real(y, "y") if numeric else class_labels(y)
    return _checked(estimator, X, y, reset=True, multi_output=several, y_numeric=numeric)  # type: ignore[no-any-return]


def features_alone(estimator: Any, X: Any) -> Any:
    """Return the X of a fit without a target, checked and finite, and note on the estimator which features it saw."""
    X = _checked(estimator, sound(X) if is_sparse(X) else X, "no_validation", reset=True)
    blame(X)
    return X


def features(estimator: Any, X: Any) -> Any:
    """Return the X of a prediction, with the features the estimator was fitted on.

    Whether it is finite is asked afterwards, of the scores: see ``blame``.
    """
    X = sound(X) if is_sparse(X) else X
    named = hasattr(estimator, "feature_names_in_")
    if (_plain(X) or _compressed(X)) and X.shape[1] == estimator.n_features_in_ and not named:
        return X
    return _checked(estimator, X, "no_validation", reset=False)


def _checked(estimator: Any, X: Any, y: Any, *, reset: bool, **options: Any) -> Any:
    """Return X, with y where there is one, by scikit-learn's rules for shapes and names, once X holds numbers."""
    options |= {"accept_sparse": ("csr", "csc"), "dtype": list(FLOATS)}
    if not narwhals.dependencies.is_into_dataframe(X):
        return validate_data(estimator, X if is_sparse(X) else real(X, "X"), y, reset=reset, **options)
    frame = _named(X)
    validate_data(estimator, frame, skip_check_array=True, reset=reset)  # names, and how many there are
    options |= {"estimator": estimator}
    cells = real(frame, "X")
    if isinstance(y, str):
        return check_array(cells, input_name="X", **options)
    return check_X_y(cells, y, **options)


def _named(frame: Any) -> Any:
    """Return a data frame whose names are all texts or all something else, as scikit-learn wants them."""
    names = names_of(frame) or ()
    mixed = len({isinstance(name, str) for name in names}) > 1
    return frame.set_axis([str(name) for name in names], axis="columns") if mixed else frame


def blame(X: Any) -> None:
    """Raise if X holds NaN or infinity; asked only when a score is not finite: cheaper than to read X twice."""
    assert_all_finite(X.data if is_sparse(X) else X, input_name="X")


def numbers(y: npt.NDArray[Any]) -> Array:
    """Return numeric targets as a C-ordered float64 array of shape ``(n, targets)``."""
    values = _packed(real(y, "y"))
    flat = values.reshape(-1)
    # A finite sum of squares is quicker to have than an answer for every row. Of many rows BLAS would wake its threads for
    # it, which then spin on the cores that the fit needs.
    with np.errstate(over="ignore", invalid="ignore"):
        squared = float(flat @ flat) if flat.size < 5_000 else math.inf
    if not (math.isfinite(squared) or np.isfinite(values).all()):
        raise InputError("Input y contains NaN or infinity; leave such rows out.")
    return values.reshape(len(values), -1)


def weights(sample_weight: Any, X: Any) -> Array | None:
    """Return one weight per row, or None where every row counts once."""
    if sample_weight is None:
        return None
    n = X.shape[0]
    one = isinstance(sample_weight, Real) and not isinstance(sample_weight, bool)
    values = _packed(np.full(n, float(sample_weight)) if one else real(sample_weight, "sample_weight"))
    if values.shape != (n,):
        raise InputError(f"sample_weight has shape {values.shape}; X has {n} rows, so give one number per row.")
    if not (np.isfinite(values).all() and values.min() >= 0.0):
        raise InputError("sample_weight holds a negative number, NaN or infinity; weights must be finite numbers >= 0.")
    with np.errstate(over="ignore"):
        total = float(values.sum())
    if not math.isfinite(total):
        raise InputError("the sum of sample_weight is too large for a double; divide them by their mean.")
    if not total:
        raise InputError("every sample_weight is zero, so there is nothing to fit; give some row a weight above zero.")
    if not math.isfinite(1.0 / total):
        raise InputError("the sum of sample_weight is too small for a double; divide them by their mean.")
    absent = values == 0.0
    if absent.any():
        blame(X[absent])  # passes leave such rows out; scikit-learn refuses NaN wherever it stands, and so do we
    return values


def offsets(offset: Any, n: int, outputs: int) -> Array | None:
    """Return the offset as ``(n, outputs)``, or None."""
    if offset is None:
        return None
    values = _packed(real(offset, "offset"))
    if values.ndim == 1 and outputs == 1:
        values = values[:, None]
    if values.shape != (n, outputs):
        raise InputError(f"offset has shape {values.shape}; it must be {(n, outputs)}, one number per row and output.")
    if not np.isfinite(values).all():
        raise InputError("offset holds NaN or infinity; offsets must be finite numbers.")
    return values


def _packed(values: npt.NDArray[Any]) -> Array:
    """Return numbers as C-ordered doubles, copied where they lie between others."""
    packed = np.ascontiguousarray(values, dtype=np.float64)
    return packed if packed.flags.aligned else packed.copy()


def _plain(X: Any) -> bool:
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.size > 0


def _compressed(X: Any) -> bool:
    return (
        type(X).__name__ in ("csr_array", "csr_matrix")
        and X.ndim == 2
        and X.data.dtype in FLOATS
        and X.indices.dtype == X.indptr.dtype
        and min(X.shape) > 0
    )


def _simple(y: npt.NDArray[Any], several: bool) -> bool:
    return y.dtype.kind in "fiub" and y.size > 0 and (y.ndim == 1 or (several and y.ndim == 2))
