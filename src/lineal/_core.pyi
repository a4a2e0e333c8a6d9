"""The compiled loops of lineal; see docs/core.md."""

from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

class Part:
    """Some columns as they are stored."""

    @property
    def shape(self) -> tuple[int, int]: ...

class Ones(Part):
    """One column of ones."""

    def __init__(self, n: int) -> None: ...

class Dense(Part):
    """A float32 or float64 matrix, read in place."""

    def __init__(self, array: npt.NDArray[Any]) -> None: ...

class Sparse(Part):
    """Compressed sparse rows with increasing columns, or some consecutive rows of such a part."""

    @overload
    def __init__(
        self, indptr: npt.NDArray[Any], indices: npt.NDArray[Any], data: npt.NDArray[Any], n_columns: int
    ) -> None: ...
    @overload
    def __init__(self, whole: Sparse, first: int, last: int) -> None: ...
    def pick(self, columns: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]: ...
    def column_moments(self, weight: Array | None = None) -> tuple[float, Array, Array, Array]: ...
    def times_columns(self, values: Array) -> Array: ...
    def spread_columns(self, coef: Array) -> Array: ...

class Codes(Part):
    """One column of ones per level, stored as int32 codes; -1 is a row of zeros."""

    def __init__(self, codes: npt.NDArray[np.int32], n_levels: int) -> None: ...

class Neighbors:
    """Dense rows that are searched for the nearest ones; metric 0 squared, 1 Manhattan, 2 Chebyshev, 3 Hamming, 4 power."""

    def __init__(self, rows: Array, metric: int, power: float = 2.0) -> None: ...
    def search(
        self, queries: Array, k: int, way: int, leaf: int = 32, own: npt.NDArray[np.int64] | None = None
    ) -> tuple[Array, npt.NDArray[np.int64]]: ...
    def distances(self, queries: Array) -> Array: ...
    @property
    def looked(self) -> int: ...

class Rows:
    """Parts side by side, and the passes over them."""

    def __init__(self, parts: list[Part]) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def lone(self) -> tuple[int, int]: ...
    def times(self, coef: Array) -> Array: ...
    def transpose_times(self, values: Array) -> Array: ...
    def gram(self, weight: Array | None = None) -> Array: ...
    def evaluate(
        self,
        loss: int,
        y: Array,
        weight: Array | None,
        offset: Array | None,
        coef: Array,
        hessian: int = 0,
        sample: int = 1,
        parameter: float = 0.0,
        kept: Array | None = None,
    ) -> tuple[float, float, float, Array, Array, Array | None]: ...
    def dual(
        self,
        loss: int,
        y: Array,
        weight: Array | None,
        offset: Array | None,
        coef: Array,
        shift: Array,
        parameter: float = 0.0,
        scale: float = 1.0,
        gradient: bool = True,
    ) -> tuple[float, float, Array, float, Array]: ...
    def curve(
        self,
        loss: int,
        y: Array,
        weight: Array | None,
        offset: Array | None,
        coef: Array,
        direction: Array,
        parameter: float = 0.0,
        sample: int = 1,
        turn: int = 0,
        kept: Array | None = None,
        known: bool = False,
    ) -> tuple[Array, float]: ...
    def blocks(
        self,
        loss: int,
        weight: Array | None,
        kept: Array | None,
        sample: int = 1,
        turn: int = 0,
        shift: Array | None = None,
        scale: Array | None = None,
    ) -> tuple[Array, float]: ...
    def means(self, loss: int, coef: Array, offset: Array | None = None) -> Array: ...
    def chances(self, coef: Array, offset: Array | None = None) -> tuple[Array, bool]: ...
    def moments(self, weight: Array | None = None) -> tuple[float, Array, Array, Array]: ...
    def products(self, weight: Array | None, y: Array) -> tuple[float, Array, Array, Array, Array]: ...
    def float32_gram(self, weight: Array | None, unit: float, y: Array, centre: Array, factor: Array) -> Array: ...
    def gram_dd(self, weight: Array | None, y: Array) -> tuple[Array, Array]: ...
    def dependence(self, high: Array, low: Array) -> float: ...
    def small_fit(
        self,
        loss: int,
        y: Array,
        weight: Array | None,
        square: Array,
        farthest: float,
        share: float,
        most: int,
        unbounded: bool,
    ) -> SmallFit | None: ...

def apart(matrix: Array) -> tuple[int, int]: ...
def cholesky(matrix: Array) -> Array | None: ...
def inverse_squares(matrix: Array) -> Array: ...

class SmallFit:
    """What the fit of a short table found."""

    @property
    def weight_sum(self) -> float: ...
    @property
    def rows(self) -> int: ...
    @property
    def mean(self) -> Array: ...
    @property
    def scatter(self) -> Array: ...
    @property
    def largest(self) -> Array: ...
    @property
    def target(self) -> Array: ...
    @property
    def baseline_value(self) -> float: ...
    @property
    def start(self) -> Array: ...
    @property
    def coef(self) -> Array: ...
    @property
    def value(self) -> float: ...
    @property
    def estimate(self) -> float: ...
    @property
    def values(self) -> list[float]: ...
    @property
    def estimates(self) -> list[float]: ...
    @property
    def passes(self) -> list[int]: ...
    @property
    def error(self) -> float: ...
    @property
    def gradient(self) -> Array: ...
    @property
    def slope(self) -> Array: ...
    @property
    def hessian(self) -> Array: ...
    @property
    def spread(self) -> tuple[Array, float]: ...

class SmallFactor:
    """The Cholesky factor of a small matrix."""

    def __init__(self, matrix: Array) -> None: ...
    @property
    def condition(self) -> float: ...
    @property
    def spread(self) -> Array: ...
    @property
    def log_determinant(self) -> float: ...
    def solve(self, right: Array) -> Array: ...

class Scorer:
    """Means of single rows."""

    def __init__(self, loss: int, coef: Array, constant: Array) -> None: ...
    def __call__(self, row: npt.ArrayLike) -> Array: ...

class Reading:
    """How a document becomes terms."""

    def __init__(
        self,
        characters: bool,
        lower: bool,
        fold: bool,
        least: int,
        low: int,
        high: int,
        missing: list[str],
        stop: list[str] = ...,
    ) -> None: ...

class Documents:
    """Texts to be read: UTF-8 with the places where each starts, or a list of str, which is not copied."""

    @overload
    def __init__(self, starts: npt.NDArray[np.int64], text: npt.NDArray[np.uint8]) -> None: ...
    @overload
    def __init__(self, texts: list[str]) -> None: ...
    def __len__(self) -> int: ...

class Tokens:
    """Documents as the numbers of their terms."""

    def __init__(self) -> None: ...

class Lexicon:
    """Terms, numbered in the order in which they came."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, terms: list[str]) -> bool: ...
    def count(self, reading: Reading, documents: Documents, most: int, kept: Tokens | None = None) -> bool: ...
    def sorted(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...
    def documents(self) -> npt.NDArray[np.int64]: ...
    def times(self) -> npt.NDArray[np.int64]: ...
    def sizes(self) -> npt.NDArray[np.int64]: ...
    def take(self, numbers: npt.NDArray[np.int64]) -> list[str]: ...

class Buckets:
    """Terms by the first bits of their hash."""

    def __init__(self, bits: int) -> None: ...
    def count(self, reading: Reading, documents: Documents) -> None: ...
    def documents(self) -> npt.NDArray[np.int64]: ...
    def shared(self) -> npt.NDArray[np.uint8]: ...

_Encoded = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any], int, int, int]

def encode_lexicon(
    reading: Reading,
    documents: Documents,
    lexicon: Lexicon,
    binary: bool,
    scale: Array | None,
    single: bool,
) -> _Encoded: ...
def encode_buckets(
    reading: Reading,
    documents: Documents,
    bits: int,
    columns: npt.NDArray[np.int32] | None,
    binary: bool,
    scale: Array | None,
    single: bool,
) -> _Encoded: ...
def encode_tokens(
    tokens: Tokens, columns: npt.NDArray[np.int32], binary: bool, scale: Array | None, single: bool
) -> _Encoded: ...
def text_statistics(reading: Reading, documents: Documents, known: Lexicon | None) -> Array: ...
def hash_text(text: str) -> int: ...

class Dictionary:
    def __init__(self) -> None: ...
    def merge(self, ends: npt.NDArray[np.int32], text: Any) -> npt.NDArray[np.int32]: ...
    def __len__(self) -> int: ...
    def texts(self) -> tuple[npt.NDArray[np.int32], bytes]: ...

class Quotes:
    lines: int
    sound: int
    odd: int
    alike: int
    alike_line: int
    middle: int
    spanning: int
    inner: int
    doubtful: int
    doubtful_line: int
    longest: int
    longest_line: int
    reason: int
    odd_line: int
    ragged_line: int
    ragged_cells: int
    wide: int
    def __init__(self, quote: str, delimiter: str) -> None: ...
    def feed(self, text: bytes | bytearray) -> None: ...
    def finish(self) -> None: ...

def cells(
    text: bytes | bytearray, delimiter: str, kinds: list[int], missing: list[str], quote: str = "", ascii: bool = False
) -> tuple[int, list[tuple[Any, ...]]] | None: ...
def factor_dd(
    high: Array, low: Array, threshold: float, fixed: int = 0
) -> tuple[Array, Array, npt.NDArray[np.int64], int]: ...
def solve_dd(
    high: Array, low: Array, rank: int, transpose: bool, right_high: Array, right_low: Array
) -> tuple[Array, Array]: ...
def times_dd(high: Array, low: Array, right_high: Array, right_low: Array) -> tuple[Array, Array]: ...
def loss_rows(
    loss: int, y: Array, eta: Array, theta: Array | None = None, parameter: float = 0.0
) -> tuple[Array, Array, Array, Array | None]: ...
def ascend(
    parts: list[Part],
    order: npt.NDArray[np.int64],
    at: Array,
    low: Array,
    high: Array,
    offset: Array | None,
    weight: Array,
    square: Array,
    inverse: Array,
    epsilon: float,
    bend: float,
    cost: float,
    shrink: float,
    coef: Array,
    theta: Array,
    keep: npt.NDArray[np.uint8],
    total: Array | None = None,
    batch: int = 0,
) -> tuple[float, float, float]: ...
def look(
    score: Array,
    at: Array,
    low: Array,
    high: Array,
    weight: Array,
    theta: Array,
    epsilon: float,
    bend: float,
    free: bool,
) -> tuple[float, float, float]: ...
def ramp_sums(
    score: Array, at: Array, low: Array, high: Array, weight: Array, theta: Array, room: Array | None = None
) -> tuple[float, float, float, float, float, float, float]: ...
def row_squares(parts: list[Part], inverse: Array, square: Array) -> None: ...
def pairs(
    gram: Array, low: Array, high: Array, epsilon: float, tol: float, most: int, coef: Array, slope: Array
) -> tuple[int, float]: ...
def exp(x: Array) -> Array: ...
def log1p(x: Array) -> Array: ...
def excess(x: Array) -> Array: ...
def threads() -> int: ...
def set_threads(n: int) -> None: ...
def watch(look: Callable[[], None] | None) -> Callable[[], None] | None: ...
def heed() -> None: ...
def cpu_level() -> str: ...
def cpu_levels() -> list[str]: ...
def sweep_gram(
    gram: Array,
    coef: Array,
    gradient: Array,
    linear: Array,
    square: Array,
    lower: Array,
    upper: Array,
    tol: float,
    most: int,
) -> tuple[int, float]: ...
def sweep_group(
    gram: Array, coupled: bool, coef: Array, gradient: Array, rate: Array, tol: float, most: int
) -> tuple[int, float]: ...
def walk_gram(
    gram: Array,
    origin: Array,
    linear: Array,
    square: Array,
    lower: Array,
    upper: Array,
    strengths: Array,
    level: float,
    tol: float,
    floor: float,
    budget: float,
    coef: Array,
    gradient: Array,
    found: Array,
    done: int,
) -> int: ...
def beyond(slopes: Array, turns: Array, sizes: Array, margins: Array) -> npt.NDArray[np.bool_]: ...
def due(
    slopes: Array,
    before: Array | None,
    linear: Array,
    least: Array,
    most: Array,
    strength: float,
    apart: float,
    turn: float,
) -> Array: ...
def epoch(
    segments: list[tuple[tuple[Part, ...], Array, Array | None, Array | None]],
    order: npt.NDArray[np.int64],
    loss: str,
    parameter: float,
    coef: Array,
    rate: Array,
    shift: Array | None,
    linear: Array,
    square: Array,
    step: float,
    weight: float = 1.0,
    batch: int = 1,
    sum: Array | None = None,
    table: Array | None = None,
    mean_gradient: Array | None = None,
    total: float = 1.0,
) -> float: ...
def largest_row(
    segments: list[tuple[tuple[Part, ...], Array | None, Array | None, Array | None]],
    order: npt.NDArray[np.int64],
    rate: Array,
    shift: Array | None,
) -> float: ...

class Presenter:
    """Rows with class numbers, to be presented to a perceptron."""

    def __init__(
        self,
        segments: list[tuple[tuple[Part, ...], Array, Array | None, Array | None]],
        columns: int,
        outputs: int,
        across: bool,
    ) -> None: ...
    @property
    def scores(self) -> Array: ...
    def run(
        self,
        order: npt.NDArray[np.int64] | None,
        length: int,
        coef: Array,
        drift: Array | None,
        state: npt.NDArray[np.int64],
        tie: int,
        rate: float,
        longest: int,
        log: npt.NDArray[np.int64] | None,
        measure: bool,
        within: float = 0.0,
    ) -> float: ...
    def project(self, vector: Array) -> Array: ...

def summary(values: Array) -> tuple[int, float, float, float, float, bool]: ...
def tally(codes: npt.NDArray[Any], levels: int) -> npt.NDArray[np.int64]: ...
def recode(
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32],
    bytes: int = 4,
    out: npt.NDArray[np.int32] | None = None,
) -> npt.NDArray[Any]: ...

class Sha256:
    def __init__(self) -> None: ...
    def update(self, data: Any) -> None: ...
    def digest(self) -> bytes: ...

def hash_columns(jobs: list[tuple[Any, ...]]) -> None: ...
def interleave(columns: list[Array], at: list[int], out: Array) -> list[int]: ...
def two_classes(y: Array, eta: Array) -> tuple[float, float, tuple[int, int], tuple[int, int]] | None: ...
def ranks(ones: Array, zeros: Array) -> tuple[float, float]: ...
def dense_gram(
    left: Array,
    right: Array | None,
    between: int,
    finish: int = 0,
    factor: float = 1.0,
    shift: float = 0.0,
    degree: int = 1,
) -> Array: ...
def sparse_gram(
    starts: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: Array,
    width: int,
    split: int = -1,
    between: int = 0,
) -> Array: ...
def subsequence_gram(
    starts: npt.NDArray[np.int64], symbols: npt.NDArray[np.int64], length: int, decay: float, split: int = -1
) -> Array: ...
def subsequence_diagonal(
    starts: npt.NDArray[np.int64], symbols: npt.NDArray[np.int64], length: int, decay: float
) -> Array: ...

class Forest:
    def __init__(self, starts: npt.NDArray[np.int64], text: npt.NDArray[np.uint8]) -> None: ...
    @property
    def fault(self) -> tuple[int, int, int] | None: ...
    @property
    def sizes(self) -> Array: ...
    def gram(self, decay: float, split: int = -1) -> Array: ...
    def diagonal(self, decay: float) -> Array: ...

SparseTable = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array, int]

def search_sparse(
    rows: SparseTable, asked: SparseTable, metric: int, power: float, k: int, own: npt.NDArray[np.int64] | None = None
) -> tuple[Array, npt.NDArray[np.int64]]: ...
def sparse_distances(rows: SparseTable, asked: SparseTable, metric: int, power: float) -> Array: ...
def class_totals(
    part: Sparse, codes: npt.NDArray[np.int64], classes: int
) -> tuple[Array, float, float, bool, bool]: ...
def class_parts(part: Sparse, codes: npt.NDArray[np.int64], classes: int, top: int, levels: int) -> Array: ...
def select_least(
    given: Array, k: int, own: npt.NDArray[np.int64] | None = None
) -> tuple[Array, npt.NDArray[np.int64]]: ...
