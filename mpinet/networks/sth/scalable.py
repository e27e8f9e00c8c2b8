"""The scalable twisted hypercube STH(m,n) = LST(m) times a cube of n dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from mpinet.errors import TopologyError
from mpinet.networks.detours import DETOUR, detour_routing
from mpinet.networks.parameters import Parameter, integer, require_ranges, whole_number
from mpinet.networks.product import NamedProduct
from mpinet.networks.routing import Routing
from mpinet.networks.schedule import Schedule
from mpinet.networks.sth.cube import (
    BinaryCube,
    CrossedCube,
    Cube,
    HilbersCube,
    TwistedCube,
    dimensions_schedule,
)
from mpinet.networks.sth.loop import ChordedLoop, list_bits, loop_schedule
from mpinet.networks.topology import Topology

CUBES: dict[str, type[Cube]] = {
    "tq": TwistedCube,
    "cq": CrossedCube,
    "hkv": HilbersCube,
    "q": BinaryCube,
}
"""Kinds of cubes, by name."""


class ScalableTwistedHypercube(NamedProduct):
    """Scalable twisted hypercube STH(m,n) of 8m 2^n processors (u,v) = v*8m + u.

    Ports 0..3 are as in LST(m), the other ports as in the cube.
    """

    parameters = (
        whole_number("m", 2, 2**57),
        Parameter("n", "2..57 (cq, q: 1..57; hkv: odd, 1..57)", integer),
        Parameter("kind", "tq, cq, hkv or q", str, default="tq"),
    )
    example = "sth:3,3"
    paper = "STH"
    specification = "papers/sth 2-6"
    brackets, lowest_first = ("(", ")"), True
    detour = DETOUR
    _address, read_address = Topology._address, Topology.read_address

    def __init__(self, m: int, n: int, kind: str = "tq"):
        self.m = m
        # The paper's STH has the twisted cube. Its name stays short, and other kinds are our own
        # variants.
        arguments = f"{m},{n}" if kind == "tq" else f"{m},{n},{kind}"
        super().__init__(arguments, ChordedLoop(m), cube_of_kind(kind, n))
        self.radices = (self.second.size, self.first.size)

    @property
    def stated(self) -> dict[str, int]:
        """Degree n+4; diameter m+1+ceil((n+1)/2); m 2^(n+2) (n+4) links (lemmas 2, 3; table 4)."""
        m, n = self.m, self.second.ports
        # Lemma 3 adds the diameters of loop and cube. Its cube has diameter ceil((n+1)/2), which
        # differs from definition 8.
        diameter = m + 1 + (n + 2) // 2
        return {"degree": n + 4, "diameter": diameter, "links": (n + 4) * m << (n + 2)}

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Routings in the loop by the paper's procedure or by shortest paths, then in the cube.

        ``detour`` is the second one, with local detours around faults.
        """
        optimal = partial(self._by_loop, "optimal")
        return {
            "paper": self._paper,
            "optimal": optimal,
            DETOUR: lambda: detour_routing(self, optimal()),
        }

    def _by_loop(self, name: str) -> Routing:
        """Return the loop's routing `name`, followed by the cube's shortest one."""
        return self.composed(name, name, "shortest")

    def _paper(self) -> Routing:
        """Return the paper's routing, whose header is the loop's port list and the cube's label."""
        size, dimensions = self.first.size, self.second.ports

        def header_bits(source: int, target: int) -> int:
            # The loop's part is a list of ports, the cube's part the target's label. In the paper
            # the message carries both.
            return list_bits(source % size, target % size, size) + dimensions

        return replace(self._by_loop("paper"), header_bits=header_bits)

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the paper's two phases: the root's loop, then all cubes at once."""
        label, place = divmod(root, self.first.size)
        loop = partial(loop_schedule, self.first, place)
        cubes = partial(dimensions_schedule, self.second, label)
        return {"twophase": lambda: replace(self._schedule(root, loop, cubes), name="twophase")}


def cube_of_kind(kind: str, n: int) -> Cube:
    """Return the cube of a kind.

    Raises
    ------
    TopologyError
        The kind does not exist, or not with n dimensions.
    """
    if not isinstance(kind, str) or kind not in CUBES:
        raise TopologyError(f"sth: kind must be tq, cq, hkv or q, not {kind!r}.")
    require_ranges(f"sth with kind {kind}", CUBES[kind].parameters, {"n": n})
    return CUBES[kind](n)
