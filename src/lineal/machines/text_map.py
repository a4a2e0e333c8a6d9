"""The columns of a kernel machine of texts or trees: what the kernel says of one and each of the training texts that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lineal import kernels
from lineal.errors import InputError, ModelFileError, PointError
from lineal.ground.records import dataclass
from lineal.kernels import Kernel, Points
from lineal.machines.kernel_map import checked, columns_of, held, minimized
from lineal.model.feature_map import CHUNK_CELLS, FeatureMap, inputs, texts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lineal.designs.design import Design

Array = npt.NDArray[np.float64]

MEMBERS = {"kernel", "numbers", "input", "width", "strength"}


@dataclass(frozen=True)
class TextKernelMap(FeatureMap):
    """``phi_i(x) = k(x, x_i)`` for the training texts or trees x_i whose coefficient is not zero.

    ``points`` are those texts, ``numbers`` their places among the training rows, from 0; ``input`` is the column that they
    come from, whose characters stand in so many columns of the encoder (``verbatim``). ``strength`` is that of the square of
    the norm in F.

    >>> from lineal.kernels import Spectrum
    >>> made = TextKernelMap(Spectrum(1), Spectrum(1).points(["ab", "b"]), (0, 3), "t", 4, 0.1)
    >>> made.phi(np.array([[99.0, 99.0, 98.0, 0.0]]))
    array([[3., 2.]])
    """

    kernel: Kernel
    points: Points
    numbers: tuple[int, ...]
    input: str
    characters: int
    strength: float
    name: ClassVar[str] = "text-kernel"

    @property
    def width(self) -> int:
        """How many columns a row has: the most characters of a text."""
        return self.characters

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: the kernel with which training row."""
        return columns_of(self.numbers)

    def phi(self, inputs: Array | csr_array) -> Array:
        """Return the kernel of some texts with those that are kept."""
        return self.kernel.gram(self.compared(inputs), self.points)

    def scores(self, design: Design, coef: Array) -> Array:
        """Return ``eta = Phi(X) coef``; all texts are read before the first is compared, so that a sentence says which fails."""
        points = self.compared(inputs(design))
        rows = max(1, CHUNK_CELLS // max(1, len(coef)))
        ones = int(design.starts_with_ones)
        eta = np.zeros((design.shape[0], coef.shape[1])) + (coef[0] if ones else 0.0)
        for first in range(0, len(eta), rows):
            some = np.arange(first, min(first + rows, len(eta)))
            eta[some] += self.kernel.gram(points.take(some), self.points) @ coef[ones:]
        return eta

    def compared(self, inputs: Array | csr_array) -> Points:
        """Return some texts as points of the kernel."""
        return points_of(self.kernel, texts(inputs), f"{self.input} of row")

    def parameters(self) -> dict[str, object]:
        """Return the kernel, and where its texts are from."""
        return {
            "kernel": self.kernel.to_dict(),
            "numbers": list(self.numbers),
            "input": self.input,
            "width": self.characters,
            "strength": self.strength,
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the texts that are kept, as UTF-8, and where each begins."""
        pieces = [text.encode(errors="surrogatepass") for text in self.points.values]
        starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)]).astype(np.int64)
        return {"texts": np.frombuffer(b"".join(pieces), dtype=np.uint8), "starts": starts}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file, every member checked."""
        if set(parameters) != MEMBERS:
            raise ModelFileError(f"feature_map must have the members {sorted(MEMBERS)}.")
        numbers, strength = checked(parameters["numbers"], parameters["strength"])
        column, width = parameters["input"], parameters["width"]
        if not isinstance(column, str) or type(width) is not int or width < 1:
            raise ModelFileError(
                "feature_map.input must be the name of a column, and its width a whole number above 0."
            )
        known = kernels.from_dict(parameters["kernel"])
        if known.takes not in ("sequences", "trees"):
            raise ModelFileError(f"feature_map.kernel is a {known.label}, which compares no texts.")
        try:
            points = known.points(_read(arrays, len(numbers)), "map.texts")
        except InputError as error:
            raise ModelFileError(f"the texts of feature_map are damaged: {error}") from None
        return cls(known, points, numbers, column, width, strength)

    def facts(self) -> list[tuple[str, str]]:
        """Return the kernel and how many texts are kept."""
        kept = len(self.numbers)
        return [
            ("Kernel", f"{self.kernel.label} of {self.input}, {self.kernel.formula()}"),
            ("Columns", f"k(x, x_i) for {kept} training row{'s' * (kept != 1)} whose coefficient is not zero"),
        ]

    @property
    def objective(self) -> str:
        """What is minimized."""
        return minimized(self.strength)

    @property
    def holds(self) -> str:
        """Say that texts of the training data are in the file."""
        return held(len(self.numbers))


def points_of(kernel: Kernel, cells: list[str], name: str) -> Points:
    """Return the texts of some rows as points; of one that cannot be read a sentence says which it is.

    >>> from lineal.kernels import SubsetTree
    >>> len(points_of(SubsetTree(), ["(S a)"], "tree of row"))
    1
    """
    try:
        return kernel.points(cells, name)
    except PointError as error:
        raise error.at(f"{name} {error.place + 1}") from None


def _read(arrays: Mapping[str, npt.NDArray[Any]], count: int) -> list[str]:
    """Return the texts of a model file."""
    if set(arrays) != {"texts", "starts"}:
        raise ModelFileError("the arrays of feature_map must be texts and starts.")
    data, starts = arrays["texts"], arrays["starts"]
    if data.dtype != np.uint8 or data.ndim != 1 or starts.dtype != np.int64 or starts.shape != (count + 1,):
        raise ModelFileError(f"map.texts must be bytes, and map.starts {count + 1} whole numbers.")
    if starts[0] != 0 or starts[-1] != len(data) or np.any(np.diff(starts) < 0):
        raise ModelFileError("map.starts must increase from 0 to the length of map.texts.")
    whole = data.tobytes()
    try:
        return [whole[a:b].decode(errors="surrogatepass") for a, b in pairwise(starts.tolist())]
    except UnicodeDecodeError:
        raise ModelFileError("map.texts is not UTF-8.") from None
