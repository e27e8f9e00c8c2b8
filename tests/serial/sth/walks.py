"""Messages walk over the reference's wiring, with the rules as plain Python and compiled."""

import numpy as np

from mpinet.base.arguments import DecideRule, StartRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.networks.routing import Routing


def walk(routing: Routing, ports: np.ndarray, source: int, target: int) -> list[int]:
    """The nodes that a message passes, with the rules as plain Python."""
    header = np.zeros(routing.words, np.int64)
    routing.start.function(source, target, header, routing.params)
    nodes = [source]
    while (port := routing.decide.function(nodes[-1], header, routing.params)) >= 0:
        nodes.append(int(ports[nodes[-1], port]))
        assert nodes[-1] >= 0, "an unwired port"
        assert len(nodes) <= len(ports) + 1, "endless"
    assert port == -1
    return nodes


def hops(routing: Routing, ports: np.ndarray) -> np.ndarray:
    """Hops between all pairs, with the compiled rules; -1 where a message does not arrive."""
    result = np.full((len(ports), len(ports)), -1, np.int64)
    rules = (routing.start.native, routing.decide.native)
    walk_all(*rules, routing.params, routing.words, ports, result)
    return result


@kernel
def walk_all(
    start_rule: StartRule,
    decide_rule: DecideRule,
    params: Ints,
    words: int,
    ports: Table,
    result: Table,
) -> None:
    """Send a message from every node to every node."""
    start, decide = start_rule.call, decide_rule.call
    header = np.zeros(words, np.int64)
    size = ports.shape[0]
    for source in range(size):
        for target in range(size):
            start(source, target, header, params)
            node, count = source, 0
            port = decide(node, header, params)
            while port >= 0 and node >= 0 and count <= size:
                node = ports[node, port]
                count += 1
                if node >= 0:
                    port = decide(node, header, params)
            if node == target and port == -1:
                result[source, target] = count
