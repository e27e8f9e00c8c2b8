"""Hierarchical and recursive dual-net, dual-cube: wiring and addresses (docs/papers/hdn, 1-3).

The three families share numbering, ports and routings, and differ in their parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from mpinet.compiled import inlined, rule
from mpinet.errors import NodeError, TopologyError
from mpinet.networks.cycle import Cycle
from mpinet.networks.detours import DETOUR, detour_routing
from mpinet.networks.hdn.base import (
    BASE_ALLOWED,
    K2,
    SIZES_ALLOWED,
    SUPER_ALLOWED,
    Factor,
    Members,
    base_text,
    factors,
    members_text,
    require_base,
    require_super,
    super_nodes,
    super_of_sizes,
    super_sizes,
)
from mpinet.networks.hdn.broadcast import broadcast_schedule, printed_schedule
from mpinet.networks.hdn.levels import (
    FACTOR_RECORD,
    FACTORS,
    FACTORS_AT,
    FIRST_CROSS,
    FIRST_PORT,
    IS_COMPLETE,
    IS_PATH,
    KIND,
    SIDE,
    WEIGHT,
    Levels,
    across,
    factor_diameter,
    factor_ports,
    level_record,
    levels_of,
    split,
    value,
)
from mpinet.networks.hdn.routing import decide_stateless, legs_routing, start_landing, start_stack
from mpinet.networks.parameters import Parameter, whole_number
from mpinet.networks.routing import Routing, stateless
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology, numbered


class DualNet(Topology):
    """Base of HDN, RDN and dual-cube: everything except the notation of parameters.

    Ports: factor by factor +1 and -1 (complete graph: +1, +2, ...), then the cross ports of levels
    1, ..., k. Without levels the network is the product base itself.
    """

    paper = "HDN (Li, Peng, Chu 2012)"
    specification = "papers/hdn 1, 2, 3, 5, 6"
    detour = DETOUR

    def __init__(self, arguments: str, base: tuple[Factor, ...], members: tuple[Members, ...]):
        self.levels: Levels = levels_of(self.family, base, members)
        self.cluster_lengths = self.levels.sizes[-2::-1]
        k = self.levels.count
        super().__init__(
            arguments,
            size=self.levels.sizes[-1],
            ports=sum(map(factor_ports, base)) + k,
            params=self.levels.params(),
            link_classes=(*numbered("dimension", len(base)), *numbered("level", k + 1)[1:]),
        )

    @rule
    def neighbor(node, port, params):
        """Return the node across in the other class, or along a factor of the base."""
        # Cross ports come after the base's ports, one per level. A network of fewer levels has the
        # same port numbers.
        cross = port - params[FIRST_CROSS]
        if cross >= 0:
            return across(node, level_record(cross + 1, params), params)
        factor = factor_of(port, params)
        weight, side, kind = params[factor + WEIGHT], params[factor + SIDE], params[factor + KIND]
        way = port - params[factor + FIRST_PORT]
        step = way + 1 if kind == IS_COMPLETE else 1 - 2 * way
        moved = node // weight % side + step
        if moved < 0 or moved >= side:
            if kind == IS_PATH:
                return -1
            step += side if moved < 0 else -side
        return node + step * weight

    @rule
    def reverse_port(node, port, params):
        """Return the same port for a cross port; in the base the port of the opposite step."""
        if port >= params[FIRST_CROSS]:
            return port
        factor = factor_of(port, params)
        first = params[factor + FIRST_PORT]
        last = params[factor + SIDE] - 2 if params[factor + KIND] == IS_COMPLETE else 1
        return 2 * first + last - port

    @rule
    def link_class(node, port, params):
        """Return the base's factor, or the level, numbered after the factors."""
        if port >= params[FIRST_CROSS]:
            return params[FACTORS] + port - params[FIRST_CROSS]
        return (factor_of(port, params) - FACTORS_AT) // FACTOR_RECORD

    @property
    def stated(self) -> dict[str, int]:
        """Nodes by the recurrence of section 3; degree and diameter by Theorem 1.

        The diameter is 2^k D(B), minus the sum of 2^j D(SN^{k-j}) for j = 0..k-1, plus 2^(k+1) - 2.
        """
        levels, k = self.levels, self.levels.count
        diameters = [factor_diameter(factor) for factor in levels.base]
        # Each level doubles the diameter, saves a walk through the super-node and adds crossings.
        # The sum unrolls that recurrence (Theorem 1).
        inside = sum(
            2 ** (k - level) * sum(diameters[j] for j in members)
            for level, members in enumerate(levels.members, 1)
        )
        diameter = 2**k * sum(diameters) - inside + 2 ** (k + 1) - 2
        return {"size": self.size, "degree": self.ports, "diameter": diameter}

    def _address(self, node: int) -> str:
        """Return the paper's address ``C,U,SN,N``, or the coordinates without levels."""
        return ",".join(map(str, split(node, self._address_digits())))

    def read_address(self, address: str) -> int:
        """Return the node with this address."""
        parts = zip(map(int, address.split(",")), self._address_digits(), strict=True)
        return sum(part * weight for part, (weight, _) in parts)

    def _address_digits(self) -> list[tuple[int, int]]:
        """Return the parts of an address as digits of the node number."""
        levels, k = self.levels, self.levels.count
        if k == 0:
            return levels.coordinates
        n, s = levels.clusters(k), levels.super_size(k)
        # The paper's address has four parts at the top level only. Lower digits are hidden in SN
        # and N.
        return [*levels.upper_digits(k)[:2], (s, n), (1, s)]

    def level_address(self, node: int, level: int) -> tuple[int, int, int, int]:
        """Return the paper's address (C_i, U_i, SN_i, N_i) of a node inside its copy of level i.

        Raises
        ------
        NodeError
            The node or the level does not exist.
        """
        self.require_node(node)
        levels = self.levels
        if not 1 <= level <= levels.count:
            raise NodeError(f"There is no level {level} in {self.name}: 1..{levels.count}.")
        own_class, cluster = split(node, levels.upper_digits(level)[:2])
        number = value(node, levels.super_node_digits(level))
        return own_class, cluster, number, value(node, levels.inner_digits(level))

    def digits(self, node: int) -> tuple[int, ...]:
        """Return all digits (C_k, U_k, ..., C_1, U_1, b_0, ..., b_{r-1}) of a node."""
        self.require_node(node)
        return split(node, self.levels.digits())

    def node_of(self, digits: Sequence[int]) -> int:
        """Return the node with these digits: the inverse of `digits`.

        Raises
        ------
        NodeError
            The number of digits is wrong, or a digit is out of range.
        """
        places = self.levels.digits()
        if len(digits) != len(places):
            raise NodeError(f"A node of {self.name} has {len(places)} digits, not {len(digits)}.")
        for at, (digit, (_, radix)) in enumerate(zip(digits, places, strict=True)):
            if not 0 <= digit < radix:
                raise NodeError(
                    f"Digit {at} of a node of {self.name} must be 0..{radix - 1}, not {digit}."
                )
        return sum(digit * weight for digit, (weight, _) in zip(digits, places, strict=True))

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The paper's Algorithm 1, and three routings of our own.

        ``algorithm1``: the header is a stack of legs (5.1, 5.2). ``stateless``: the header is the
        target (5.3). ``landing``: the source chooses the nodes of the crossings (5.4). ``detour``:
        stateless, with local detours around faults (5.5).
        """
        k = self.levels.count
        return {
            "algorithm1": lambda: legs_routing("algorithm1", self, start_stack, 3 * k + 1),
            "stateless": lambda: stateless("stateless", decide_stateless, self, shortest=k <= 1),
            "landing": lambda: legs_routing("landing", self, start_landing, 3 * 2**k - 2),
            DETOUR: lambda: detour_routing(self, self.routing("stateless")),
        }

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return Algorithm 2, corrected (6.2) and as printed (6.3).

        The printed form may leave nodes uninformed.
        """
        known = {"algorithm2": lambda: broadcast_schedule(self, self.levels, root)}
        if self.levels.count:
            known["printed"] = lambda: printed_schedule(self, self.levels, root)
        return known

    def cycle(self) -> Cycle | None:
        """Hamiltonian cycle by the lifting scheme (8), else found by search."""
        return self._lifted_cycle or super().cycle()

    @cached_property
    def _lifted_cycle(self) -> Cycle | None:
        from mpinet.networks.hdn.hamiltonian import lifted_cycle

        return lifted_cycle(self, lambda base, members: DualNet("", base, members))


class HierarchicalDualNet(DualNet):
    """Hierarchical dual-net HDN(B,k,S) over rings C, complete graphs K and paths P.

    The base is the product of these factors. Paths are allowed only without levels.

    Parameters
    ----------
    BASE : sequence of (str, int)
        Kind and size of each factor.
    super : sequence of sequences of int, optional
        The factors of the super-node, level by level. Default: no levels.
    sizes : sequence of int, optional
        The super-nodes' sizes instead, if each size determines a super-node.
    """

    parameters = (
        Parameter("BASE", BASE_ALLOWED, factors),
        Parameter("super", SUPER_ALLOWED, super_nodes, default=None),
        Parameter("sizes", SIZES_ALLOWED, super_sizes, default=None),
    )
    example = "hdn:2x3x5,super=0.1/1.2"

    def __init__(
        self,
        BASE: Sequence[tuple[str, int]],
        super: Sequence[Sequence[int]] | None = None,
        sizes: Sequence[int] | None = None,
    ):
        base = require_base("hdn", BASE)
        if super is not None and sizes is not None:
            raise TopologyError("hdn: give super or sizes, not both.")
        if sizes is not None:
            super = super_of_sizes("hdn", base, sizes)
        members = require_super("hdn", base, () if super is None else super)
        levels = "/".join(map(members_text, members))
        # The parameter's name in docs/contract, 1, hides Python's own super.
        DualNet.__init__(
            self, base_text(base) + (f",super={levels}" if levels else ""), base, members
        )


class RecursiveDualNet(DualNet):
    """Recursive dual-net RDN(B,k): the HDN of single-node super-nodes (Li, Peng, Chu 2009)."""

    parameters = (Parameter("BASE", BASE_ALLOWED, factors), whole_number("k", 0, 4))
    example = "rdn:2x3x5,1"

    def __init__(self, BASE: Sequence[tuple[str, int]], k: int):
        base = require_base("rdn", BASE)
        super().__init__(f"{base_text(base)},{k}", base, require_super("rdn", base, [()] * k))


class DualCube(DualNet):
    """Dual-cube: the RDN of one level over the (n-1)-cube (Li, Peng, Chu 2004).

    A node's address in its cube is U,SN.
    """

    parameters = (whole_number("n", 2, 29),)
    example = "dualcube:3"

    def __init__(self, n: int):
        super().__init__(f"{n}", (K2,) * (n - 1), ((),))


@inlined
def factor_of(port, params):
    """Return the index of the record of the factor that a port belongs to."""
    factor = FACTORS_AT
    while params[factor + FACTOR_RECORD + FIRST_PORT] <= port:
        factor += FACTOR_RECORD
    return factor
