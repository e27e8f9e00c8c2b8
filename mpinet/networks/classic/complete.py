"""The complete graph, and its one-port broadcast (docs/papers/hdn, 6.1)."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import ceil_log2
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import shortest_routings
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import EXCHANGE, Topology


@rule
def decide(node, header, params):
    """Return the port that leads straight to the target."""
    offset = header[0] - node
    return (offset if offset >= 0 else offset + params[0]) - 1


class Complete(Topology):
    """Complete graph of N processors; port i leads to u+1+i (mod N)."""

    parameters = (whole_number("N", 1),)
    example = "complete:8"
    paper = "textbook"
    specification = "papers/gbsn 6"
    default_classes = "none"

    def __init__(self, N: int):
        stated = {"degree": N - 1, "diameter": min(1, N - 1)}
        super().__init__(f"{N}", size=N, ports=N - 1, stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return processor u+1+port modulo N."""
        # The port is the distance ahead, less one. All nodes therefore number their ports in the
        # same way, and the network is a circulant.
        other = node - params[0] + 1 + port
        return other if other >= 0 else other + params[0]

    @rule
    def reverse_port(node, port, params):
        """Return the port of the remaining distance round."""
        return params[0] - 2 - port

    routings = shortest_routings(direct=decide)

    ascend_schedules = EXCHANGE

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast `doubling`: informed processors double in every step."""
        phases = (("complete", ceil_log2(self.size)),)
        return {"doubling": lambda: Schedule("doubling", root, send, self.params, phases)}

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: port 0 all the way round."""
        return ring_cycle(self.params)


@inlined
def complete_send(offset, size, step):
    """Return the port on which the node `offset` after the source sends in sub-step `step`, or -1.

    In sub-step t every offset a < 2^(t-1) sends to a + 2^(t-1).
    """
    # Recursive doubling: each informed node informs one more in every step. No one-port broadcast
    # is faster on any network.
    reach = 1 << (step - 1)
    return reach - 1 if offset < reach and offset + reach < size else -1


@rule
def send(node, root, since, step, params):
    """Return the output port of the complete graph's schedule."""
    return complete_send((node - root) % params[0], params[0], step)
