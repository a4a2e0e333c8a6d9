"""The columns of a kernel machine: what the kernel says of a row and each of the training rows that are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lineal import kernels
from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError, ModelFileError
from lineal.ground.records import dataclass
from lineal.kernels import Kernel, Points
from lineal.model.feature_map import FeatureMap

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = npt.NDArray[np.float64]

MEMBERS = {"kernel", "numbers", "inputs", "strength"}


@dataclass(frozen=True)
class KernelMap(FeatureMap):
    """``phi_i(x) = k(x, x_i)`` for the training rows x_i whose coefficient is not zero.

    ``rows`` are those rows, dense or sparse, ``numbers`` their places among the training rows, from 0; ``inputs`` names the
    columns they are made of, and ``strength`` is that of the square of the norm in F. With ``center`` and ``spread`` the kernel
    compares ``(x - center) / spread``, and ``rows`` hold that.

    >>> from lineal.kernels import Linear
    >>> KernelMap(Linear(), np.array([[1.0, 2.0]]), (4,), ("a", "b"), 0.1).phi(np.array([[3.0, 1.0]]))
    array([[5.]])
    """

    kernel: Kernel
    rows: Any
    numbers: tuple[int, ...]
    inputs: tuple[str, ...]
    strength: float
    center: Array | None = None
    spread: Array | None = None
    name: ClassVar[str] = "kernel"

    @property
    def width(self) -> int:
        """How many columns a row has."""
        return int(self.rows.shape[1])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: the kernel with which training row."""
        return columns_of(self.numbers)

    def phi(self, inputs: Array | csr_array) -> Array:
        """Return the kernel of some rows with those that are kept."""
        return self.kernel.gram(self.compared(inputs), self.points)

    @property
    def points(self) -> Points:
        """The rows that are kept, as points of the kernel."""
        return self.kernel.points(self.rows)

    def compared(self, inputs: Array | csr_array) -> Points:
        """Return some rows as points of the kernel, standardized."""
        if self.spread is not None and self.center is not None:
            inputs = (_dense(inputs) - self.center) / self.spread
        return self.kernel.points(inputs)

    def parameters(self) -> dict[str, object]:
        """Return the kernel, and where its rows are from."""
        return {
            "kernel": self.kernel.to_dict(),
            "numbers": list(self.numbers),
            "inputs": list(self.inputs),
            "strength": self.strength,
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the rows that are kept: one array, or the three of compressed rows."""
        if self.spread is not None and self.center is not None:
            return {"rows": np.ascontiguousarray(self.rows), "center": self.center, "spread": self.spread}
        if not is_sparse(self.rows):
            return {"rows": np.ascontiguousarray(self.rows, dtype=np.float64)}
        data, indices, indptr = self.rows.data, self.rows.indices, self.rows.indptr
        return {"data": data.astype(np.float64), "indices": indices.astype(np.int64), "indptr": indptr.astype(np.int64)}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file, every member checked."""
        if set(parameters) != MEMBERS:
            raise ModelFileError(f"feature_map must have the members {sorted(MEMBERS)}.")
        numbers, strength = checked(parameters["numbers"], parameters["strength"])
        inputs = parameters["inputs"]
        if not (isinstance(inputs, list) and all(isinstance(one, str) for one in inputs)):
            raise ModelFileError("feature_map.inputs must be a list of names.")
        known = kernels.from_dict(parameters["kernel"])
        if known.takes in ("sequences", "trees"):
            raise ModelFileError(f"feature_map.kernel is a {known.label}, which compares no rows of numbers.")
        center, spread = arrays.get("center"), arrays.get("spread")
        plain = {name: array for name, array in arrays.items() if name not in ("center", "spread")}
        if (center is None) != (spread is None):
            raise ModelFileError("feature_map must have both of the arrays center and spread, or neither.")
        for array in (center, spread):
            if array is None:
                continue
            if array.dtype != np.float64 or array.shape != (len(inputs),) or not np.isfinite(array).all():
                raise ModelFileError(f"map.center and map.spread must hold {len(inputs)} finite doubles.")
        if spread is not None and not np.all(spread > 0.0):
            raise ModelFileError("map.spread must be above 0.")
        rows = _rows(plain, len(numbers), len(inputs))
        return cls(known, rows, numbers, tuple(inputs), strength, center, spread)

    def facts(self) -> list[tuple[str, str]]:
        """Return the kernel and how many rows are kept."""
        kept = len(self.numbers)
        return [
            (
                "Kernel",
                f"{self.kernel.label}, {self.kernel.formula()}{'' if self.spread is None else ', standardized columns'}",
            ),
            ("Columns", f"k(x, x_i) for {kept} training row{'s' * (kept != 1)} whose coefficient is not zero"),
        ]

    @property
    def objective(self) -> str:
        """What is minimized."""
        return minimized(self.strength)

    @property
    def holds(self) -> str:
        """Say that rows of the training data are in the file."""
        return held(len(self.numbers))


def columns_of(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """Return names of the columns: the kernel with which training row.

    >>> columns_of((0, 4))
    ('k(x, row 0)', 'k(x, row 4)')
    """
    return tuple(f"k(x, row {number})" for number in numbers)


def minimized(strength: float) -> str:
    """Return what a kernel machine minimizes.

    >>> minimized(0.5)
    "(1/S) sum s loss + (0.5 / 2) |f|^2, f = sum_i a_i k(x_i, .), |f|^2 = a'K a"
    """
    return f"(1/S) sum s loss + ({strength:.6g} / 2) |f|^2, f = sum_i a_i k(x_i, .), |f|^2 = a'K a"


def held(kept: int) -> str:
    """Return what a file holds of the training rows.

    >>> held(1)
    'The file holds 1 training row as they are: the support vectors are rows of the data.'
    """
    return (
        f"The file holds {kept} training row{'s' * (kept != 1)} as they are: the support vectors are rows of the data."
    )


def checked(numbers: Any, strength: Any) -> tuple[tuple[int, ...], float]:
    """Return the numbers of rows and the strength of a model file, or a ModelFileError.

    >>> checked([0, 2], 1)
    ((0, 2), 1.0)
    """
    if not (isinstance(numbers, list) and all(type(one) is int and one >= 0 for one in numbers)):
        raise ModelFileError("feature_map.numbers must be a list of row numbers.")
    if any(one >= other for one, other in pairwise(numbers)):
        raise ModelFileError("feature_map.numbers must increase.")
    if not (isinstance(strength, int | float) and math.isfinite(strength) and strength >= 0):
        raise ModelFileError("feature_map.strength must be a finite number of at least 0.")
    return tuple(numbers), float(strength)


def _dense(inputs: Array | csr_array) -> Array:
    return inputs if isinstance(inputs, np.ndarray) else np.asarray(inputs.toarray())


def _rows(arrays: Mapping[str, npt.NDArray[Any]], count: int, width: int) -> Any:
    """Return the rows of a model file."""
    if set(arrays) == {"rows"}:
        rows = arrays["rows"]
        if rows.dtype != np.float64 or rows.shape != (count, width) or not np.isfinite(rows).all():
            raise ModelFileError(f"map.rows must be finite doubles of shape {(count, width)}.")
        return rows
    if set(arrays) != {"data", "indices", "indptr"}:
        raise ModelFileError("the arrays of feature_map must be rows, or data, indices and indptr.")
    from scipy.sparse import csr_array

    data, indices, indptr = (arrays[name] for name in ("data", "indices", "indptr"))
    if data.dtype != np.float64 or not np.isfinite(data).all() or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ModelFileError("map.data must be finite doubles, map.indices and map.indptr whole numbers.")
    try:
        return sound(csr_array((data, indices, indptr), shape=(count, width)))
    except (InputError, ValueError) as error:
        raise ModelFileError(f"the rows of feature_map are damaged: {error}") from None
