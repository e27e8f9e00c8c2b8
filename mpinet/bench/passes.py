"""W4: ASCEND programs on the hypercube, one element per processor: bitonic sort and FFT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.bench import kernels
from mpinet.bench.benchmark import (
    MPINET,
    Baseline,
    Benchmark,
    BenchSetting,
    Contenders,
    at_least,
    speed,
)
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.programs.operators import Operator, Pass
from mpinet.programs.operators.bitonic import BitonicSort
from mpinet.programs.operators.fourier import FourierTransform
from mpinet.programs.operators.operator import DESCEND, drawn
from mpinet.programs.schedules import find_schedule

SORTING_KERNEL, FOURIER_KERNEL, PLAIN_NUMPY = "pairs kernel", "butterfly kernel", "plain NumPy"


class OwnSort(Operator):
    """A bitonic sort as a user writes it: with NumPy, on the pairs that come."""

    name = "own-sort"
    kinds = (DESCEND,)

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Merge runs of 2, 4, .., 2^q keys."""
        return [Pass(kind, 0, s, partial(self._order, s)) for s in range(1, q + 1)]

    def expected(self, values: Array) -> Array:
        """Sort by NumPy."""
        return np.sort(values)

    @staticmethod
    def _order(s: int, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Order each pair: ascending if bit s of its number is 0."""
        least, largest = np.minimum(low, high), np.maximum(low, high)
        first = i[:, :1] if i.ndim == 2 else i
        up = (first >> s) & 1 == 0
        return np.where(up, least, largest), np.where(up, largest, least)


class RepeatedProgram:
    """Program of an operator on a hypercube, ready to be run again and again.

    Parameters
    ----------
    operator : Operator
        With a descend form.
    q : int
        Dimensions.
    setting : BenchSetting
        For the seed.
    transport : Local
        The ranks.
    """

    def __init__(self, operator: Operator, q: int, setting: BenchSetting, transport: Local):
        machine = Machine(open_topology(f"hypercube:{q}"), "all", transport)
        self._schedule = find_schedule(machine.topology, None)(machine)
        self._passes = operator.passes(DESCEND, q)
        values = operator.draw(setting.seed, q, self._schedule.index)
        self._values = operator.prepare(values)
        self.element_steps = sum(len(sweep.dimensions) for sweep in self._passes) << q

    def run(self) -> Array:
        """Run the program (collective); return this rank's states at the end."""
        # A sort of sorted keys takes the same steps, but branches of a kernel would be predicted:
        # each run starts anew.
        state = self._values.copy()
        self._schedule.carry_out(self._passes, state)
        return state


def by_mpinet(setting: BenchSetting, operator: Operator, q: int) -> Callable[[], float]:
    """Measure millions of elements times steps per second of mpinet."""
    program = RepeatedProgram(operator, q, setting, Local())
    return lambda: speed(program.element_steps, setting.seconds(program.run))


def sorted_(setting: BenchSetting, q: int) -> Contenders:
    """Compare mpinet's own sort and the pairs kernel."""
    return {
        MPINET: by_mpinet(setting, BitonicSort(), q),
        SORTING_KERNEL: _sorting(setting, q, kernels.sort_pairs),
    }


def sorted_by_user(setting: BenchSetting, q: int) -> Contenders:
    """Compare a user's sort and the same operations on plain arrays."""
    return {
        MPINET: by_mpinet(setting, OwnSort(), q),
        PLAIN_NUMPY: _sorting(setting, q, sort_with_numpy),
    }


def transformed(setting: BenchSetting, q: int) -> Contenders:
    """Compare mpinet's own FFT and the butterfly kernel."""
    values = FourierTransform().draw(setting.seed, q, np.arange(1 << q))
    # The table of roots is made outside of the measurement, as a library would keep it.
    roots = np.exp(-2j * np.pi * np.arange(1 << q >> 1) / (1 << q))

    def by_kernel() -> float:
        state = values.copy()
        seconds = setting.seconds(lambda: kernels.transform_pairs(state, roots, q))
        return speed(q << q, seconds)

    return {MPINET: by_mpinet(setting, FourierTransform(), q), FOURIER_KERNEL: by_kernel}


def _sorting(setting: BenchSetting, q: int, sort: Callable[[Any, int], Any]) -> Callable[[], float]:
    keys = drawn(setting.seed, np.arange(1 << q))
    element_steps = q * (q + 1) // 2 << q

    def sort_copy() -> float:
        state = keys.copy()
        return speed(element_steps, setting.seconds(lambda: sort(state, q)))

    return sort_copy


def sort_with_numpy(keys: Array, q: int) -> None:
    """Sort whole arrays in place by Batcher's bitonic sorter."""
    for s in range(1, q + 1):
        for j in range(s - 1, -1, -1):
            pairs = keys.reshape(-1, 2, 1 << j)
            least = np.minimum(pairs[:, 0], pairs[:, 1])
            largest = np.maximum(pairs[:, 0], pairs[:, 1])
            up = ((np.arange(len(pairs)) << (j + 1) >> s) & 1 == 0)[:, np.newaxis]
            pairs[:, 0] = np.where(up, least, largest)
            pairs[:, 1] = np.where(up, largest, least)


ELEMENT_STEPS = "M element-steps/s"
SIZES = {"small": 7, "full": 20}

BENCHMARKS = tuple(
    Benchmark(
        f"w4-{name}",
        f"{words} on hypercube:{{}}",
        ELEMENT_STEPS,
        SIZES,
        contenders,
        (Baseline(baseline, at_least(ratio)),),
    )
    for name, words, contenders, baseline, ratio in (
        ("sort", "bitonic sort", sorted_, SORTING_KERNEL, 0.5),
        ("fft", "FFT", transformed, FOURIER_KERNEL, 1),
        ("own", "a user's bitonic sort in NumPy", sorted_by_user, PLAIN_NUMPY, 0.7),
    )
)
