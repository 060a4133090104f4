"""Grids of ARC: what is one, and how much of it is as it should be. Needs numpy."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    IntGrid = NDArray[np.int_]
    Spectrum = NDArray[np.complex128]

MAX_SIDE, MAX_COLOUR = 30, 9
_DIRECT_WORK = 15_000  # Comparisons up to which trying every placement beats the Fourier transform.


def to_grid(output: Any, max_side: int = MAX_SIDE) -> IntGrid:
    """The output as integers; ValueError unless it is a grid with sides 1..max_side and values 0..9.

    Whatever else numpy raises (TypeError for a mapping, OverflowError for a huge number) is left to the caller.
    """
    if output is None:
        raise ValueError("the output is None")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A cast of NaN warns; the value that comes of it fails the range below.
        grid = np.array(output, dtype=int)
    if grid.ndim != 2:
        raise ValueError(f"the output has {grid.ndim} dimensions")
    if min(grid.shape) < 1 or max(grid.shape) > max_side:
        raise ValueError(f"the output has {grid.shape[0]} x {grid.shape[1]} cells, sides must be 1..{max_side}")
    if grid.min() < 0 or grid.max() > MAX_COLOUR:
        raise ValueError(f"the output has values {grid.min()}..{grid.max()}, not 0..{MAX_COLOUR}")
    return grid


def pixel_score(output: IntGrid, truth: IntGrid) -> float:
    """Share of equal cells, 0..1.

    Shapes that disagree: the largest number of equal cells over all ways to lay one grid on the other, divided
    by (larger height x larger width).
    """
    if output.shape == truth.shape:
        return float(np.count_nonzero(output == truth)) / truth.size
    area = max(output.shape[0], truth.shape[0]) * max(output.shape[1], truth.shape[1])
    return best_overlap(output, truth) / area


def best_overlap(a: IntGrid, b: IntGrid) -> int:
    """The largest number of equal cells over all shifts of `a` against `b`; cells may stick out."""
    rows, columns = a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1
    if rows * columns * min(a.size, b.size) <= _DIRECT_WORK:
        large, small = (a, b) if a.size >= b.size else (b, a)
        return _overlap_direct(large, small)
    return _overlap_fourier(a, b)


def _overlap_direct(large: IntGrid, small: IntGrid) -> int:
    """Compares `small` with every window of `large`, which gets a margin of a value that equals none."""
    height, width = small.shape
    margin = ((height - 1, height - 1), (width - 1, width - 1))
    framed = np.pad(large, margin, constant_values=-1)
    windows = np.lib.stride_tricks.sliding_window_view(framed, small.shape)
    return int((windows == small).sum(axis=(2, 3)).max())


def _overlap_fourier(a: IntGrid, b: IntGrid) -> int:
    """Correlates one plane per colour; the sum over the colours counts the equal cells of each shift."""
    rows, columns = _fast_length(a.shape[0] + b.shape[0] - 1), _fast_length(a.shape[1] + b.shape[1] - 1)
    spectrum = _spectrum(a.tobytes(), a.shape, rows, columns) * _spectrum(b.tobytes(), b.shape, rows, columns).conj()
    counts = np.fft.irfft2(spectrum.sum(axis=0), s=(rows, columns))
    return int(np.rint(counts.max()))


@lru_cache(maxsize=64)
def _spectrum(cells: bytes, shape: Tuple[int, int], rows: int, columns: int) -> Spectrum:
    """Transform of the ten colour planes of a grid, padded to rows x columns."""
    grid = np.frombuffer(cells, dtype=int).reshape(shape)
    planes = grid[None, :, :] == np.arange(10)[:, None, None]
    return np.fft.rfft2(planes, s=(rows, columns))


def _fast_length(n: int) -> int:
    """The smallest even number >= n without prime factors above 5."""
    n += n % 2
    while True:
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 2
