"""W4: ASCEND programs on the hypercube, one element per processor: bitonic sort and FFT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.bench import kernels
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
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
    """Bitonic sort written in NumPy by a user, on arrays of pairs."""

    name = "own-sort"
    kinds = (DESCEND,)

    def passes(self, kind: str, q: int) -> Sequence[Pass]:
        """Return the passes that merge runs of 2, 4, ..., 2^q keys."""
        return [Pass(kind, 0, s, partial(self._order, s)) for s in range(1, q + 1)]

    def expected(self, values: Array) -> Array:
        """Return the values sorted by NumPy."""
        return np.sort(values)

    @staticmethod
    def _order(s: int, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Order each pair: ascending if bit s of its number is 0, otherwise descending."""
        least, largest = np.minimum(low, high), np.maximum(low, high)
        first = i[:, :1] if i.ndim == 2 else i
        up = (first >> s) & 1 == 0
        return np.where(up, least, largest), np.where(up, largest, least)


class RepeatedProgram:
    """Program of an operator on a hypercube that can be run repeatedly.

    Parameters
    ----------
    operator : Operator
        Operator with a descend form.
    q : int
        Number of dimensions.
    setting : BenchSetting
        Provides the seed.
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
        """Run the program and return this rank's final states (collective)."""
        # Each run starts from the original values. Sorting sorted keys takes the same steps, but
        # the kernel's branches would be predicted.
        state = self._values.copy()
        self._schedule.carry_out(self._passes, state)
        return state


def by_mpinet(setting: BenchSetting, operator: Operator, q: int) -> Callable[[], float]:
    """Return a function that measures mpinet in millions of elements times steps per second."""
    program = RepeatedProgram(operator, q, setting, Local())
    return lambda: speed(program.element_steps, setting.seconds(program.run))


def sorted_(setting: BenchSetting, q: int) -> Contenders:
    """Compare mpinet's own sort with the kernel on pairs."""
    return Contenders(
        by_mpinet(setting, BitonicSort(), q),
        {SORTING_KERNEL: _sorting(setting, q, kernels.sort_pairs)},
    )


def sorted_by_user(setting: BenchSetting, q: int) -> Contenders:
    """Compare a user's sort with the same operations on plain arrays."""
    return Contenders(
        by_mpinet(setting, OwnSort(), q),
        {PLAIN_NUMPY: _sorting(setting, q, sort_with_numpy)},
    )


def transformed(setting: BenchSetting, q: int) -> Contenders:
    """Compare mpinet's own FFT with the butterfly kernel."""
    values = FourierTransform().draw(setting.seed, q, np.arange(1 << q))
    # The table of roots is made outside of the measurement, because libraries also cache it.
    roots = np.exp(-2j * np.pi * np.arange(1 << q >> 1) / (1 << q))

    def by_kernel() -> float:
        state = values.copy()
        seconds = setting.seconds(lambda: kernels.transform_pairs(state, roots, q))
        return speed(q << q, seconds)

    return Contenders(by_mpinet(setting, FourierTransform(), q), {FOURIER_KERNEL: by_kernel})


def _sorting(setting: BenchSetting, q: int, sort: Callable[[Any, int], Any]) -> Callable[[], float]:
    keys = drawn(setting.seed, np.arange(1 << q))
    element_steps = q * (q + 1) // 2 << q

    def sort_copy() -> float:
        state = keys.copy()
        return speed(element_steps, setting.seconds(lambda: sort(state, q)))

    return sort_copy


def sort_with_numpy(keys: Array, q: int) -> None:
    """Sort whole arrays in place with Batcher's bitonic sorter."""
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
