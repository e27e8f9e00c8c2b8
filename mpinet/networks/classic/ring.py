"""The ring, and its one-port broadcast (docs/papers/hdn, 6.1)."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from mpinet.compiled import inlined, rule
from mpinet.networks.bubble import ring_classes
from mpinet.networks.classes import Choices
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_way_round

PLUS, MINUS = 0, 1


@rule
def decide(node, header, params):
    """Return the port of the shorter direction; the lowest port on a tie."""
    offset = (header[0] - node) % params[0]
    return ARRIVED if offset == 0 else way_round(offset, params[0])


@rule
def decide_by_parity(node, header, params):
    """Return the port of the shorter direction; a tie goes forward from even nodes."""
    offset = (header[0] - node) % params[0]
    return ARRIVED if offset == 0 else parity_way_round(offset, params[0], node)


class Ring(Topology):
    """Ring of N processors; port 0 leads to u+1, port 1 to u-1 (mod N)."""

    parameters = (whole_number("N", 3),)
    example = "ring:16"
    paper = "textbook"
    specification = "papers/gmn 9"
    default_classes = "dateline"

    def __init__(self, N: int):
        super().__init__(f"{N}", size=N, ports=2, stated={"degree": 2, "diameter": N // 2})

    @rule
    def neighbor(node, port, params):
        """Return u+1 behind port 0, u-1 behind port 1."""
        return (node + 1 - 2 * port) % params[0]

    reverse_port = other_way_round

    routings = shortest_routings(shortest=decide, parity=decide_by_parity)

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """Stride and side of the ring's only dimension."""
        return ((1, self.size),)

    @property
    def channel_classes(self) -> Choices:
        """Class rules of two classes, separated by the link between N-1 and 0."""
        return ring_classes(self, dateline, wrap)

    ascend_schedules = MappingProxyType({"line": "mpinet.programs.schedules.line:Line"})

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast in both directions round the ring, alternately."""
        phases = (("ring", ring_broadcast_steps(self.size)),)
        return {"ring": lambda: Schedule("ring", root, send, self.params, phases)}

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: port 0 all the way round."""
        return ring_cycle(self.params)


@inlined
def way_round(offset, length):
    """Return the direction of the shorter route over `offset` hops; a tie goes forward."""
    return PLUS if 2 * offset <= length else MINUS


@inlined
def parity_way_round(offset, length, place):
    """Return the shorter direction as `way_round`; a tie goes forward from even places.

    A ring of two has one link and no tie.
    """
    if 2 * offset == length and length > 2:
        return place & 1
    return way_round(offset, length)


@inlined
def crosses(here, there, forward):
    """Return 1 if the route between two places of a ring crosses the link that closes it, else 0.

    This is the class ``dateline`` (Dally, Seitz 1987).
    """
    # No state is needed: a forward route to a lower place still has the closing link ahead. After
    # that link the comparison is reversed.
    return 1 if (there < here if forward else there > here) else 0


@rule
def dateline(node, port, in_port, in_class, header, params):
    """Return 1 while the rest of the route crosses the link between N-1 and 0, else 0."""
    return crosses(node, header[0], port == PLUS)


@rule
def wrap(node, port, in_port, in_class, header, params):
    """Return 1 for the whole route if it crosses the link between N-1 and 0, else 0."""
    return crosses(node, header[0], port == PLUS) if in_port < 0 else in_class


@inlined
def ring_send(offset, length, step):
    """Return the direction in which the node `offset` hops after the source sends in a step, or -1.

    In sub-step t the offset t-1 sends forward, up to the offset ceil(length/2). From sub-step 2
    on the offset -(t-2) sends backward, unless its neighbour is reached from the other side.
    """
    # The source can send in one direction per step only. Forward gets the first step, and the
    # longer half if the ring is odd.
    half = (length + 1) // 2
    if offset == step - 1 and step <= half and step < length:
        return PLUS
    if step >= 2 and offset == (2 - step) % length and length - (step - 1) > half:
        return MINUS
    return -1


@rule
def send(node, root, since, step, params):
    """Return the port of the one-port broadcast, in both directions round the ring alternately."""
    return ring_send((node - root) % params[0], params[0], step)


@inlined
def ring_broadcast_steps(length):
    """Return the steps of the one-port broadcast in a ring: ceil(length/2)."""
    return (length + 1) // 2
