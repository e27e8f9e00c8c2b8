"""The formula of a one-port broadcast in T steps, built by the checker itself.

A formula without a solution proves: no such broadcast exists. Every schedule is a solution, with
I(v, t) for "v has the item after step t" and X(a, t) for "arc a is used in step t". An arc is a
sender with the nodes that receive its message simultaneously. The formula excludes superfluous
sends: to a node that already has the item, or receives it in the same step anyway.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from hashlib import sha256

from mpinet.certify.network import Network

# Strings, because Python's True equals 1, which is the number of a variable.
TRUE, FALSE = "true", "false"


Clauses = Generator[list[int], None, int]
"""Generator of a formula's clauses; its return value is the number of variables."""


def formula(network: Network, root: int, steps: int) -> Clauses:
    """Yield the clauses of the formula "a one-port broadcast from `root` takes at most T steps"."""
    # No node has the item before its distance. These constants make the formula much smaller, and
    # every solution satisfies them.
    distance = network.distances(root)
    arcs: list[tuple[int, tuple[int, ...]]]
    if network.links:
        arcs = [(u, (v,)) for u, others in enumerate(network.neighbors) for v in others]
    else:
        # On a bus a transmission reaches all other members: a sender and its bus are one arc.
        arcs = sorted((u, tuple(v for v in bus if v != u)) for bus in network.busses for u in bus)
        arcs = [(u, receivers) for u, receivers in arcs if receivers]
    has: dict[tuple[int, int], int | str] = {}
    numbers = 0
    for node in range(network.size):
        has[node, 0] = TRUE if node == root else FALSE
    for step in range(1, steps + 1):
        for node in range(network.size):
            # After the last step every processor has the item. This is the goal of a broadcast;
            # switches need not have the item.
            if node == root or (step == steps and distance[node] <= step and node < network.hosts):
                has[node, step] = TRUE
            elif step < distance[node]:
                has[node, step] = FALSE
            else:
                numbers += 1
                has[node, step] = numbers
    used: dict[tuple[int, int], int] = {}
    for step in range(1, steps + 1):
        for arc, (sender, receivers) in enumerate(arcs):
            # A send that informs no node can be removed from any schedule. Variables for useless
            # sends would only slow the solver down.
            useful = any(distance[v] <= step and v != root for v in receivers)
            if distance[sender] < step and useful:
                numbers += 1
                used[arc, step] = numbers
    out: list[list[int]] = [[] for _ in range(network.size)]
    into: list[list[int]] = [[] for _ in range(network.size)]
    for arc, (sender, receivers) in enumerate(arcs):
        out[sender].append(arc)
        for node in receivers:
            into[node].append(arc)
    for step in range(1, steps + 1):
        for node in range(network.size):
            received_now = [used[arc, step] for arc in into[node] if (arc, step) in used]
            now, before = has[node, step], has[node, step - 1]
            yield from clause([negated(now), before, *received_now])
            yield from clause([negated(before), now])
    for step in range(1, steps + 1):
        for node in range(network.size):
            mine = [used[arc, step] for arc in out[node] if (arc, step) in used]
            for arc in mine:
                yield from clause([-arc, has[node, step - 1]])
            for place, arc in enumerate(mine):
                yield from ([-arc, -other] for other in mine[place + 1 :])
    # Sends to informed nodes are excluded on links, where each send has one receiver. On a bus
    # another receiver may still need the message.
    for step in range(1, steps + 1) if network.links else ():
        for node in range(network.size):
            for arc in into[node]:
                if (arc, step) in used:
                    yield from clause([-used[arc, step], negated(has[node, step - 1])])
    # The number of variables is known only after the last clause. Returning it saves a second pass.
    return numbers


def negated(literal: int | str) -> int | str:
    """Return the negation of a literal or constant."""
    if isinstance(literal, int):
        return -literal
    return FALSE if literal == TRUE else TRUE


def clause(literals: Iterable[int | str]) -> list[list[int]]:
    """Drop the false literals of a clause; yield no clause if a literal is true."""
    kept = list(literals)
    if TRUE in kept:
        return []
    return [[literal for literal in kept if isinstance(literal, int)]]


def sized(clauses: Clauses) -> tuple[int, int]:
    """Return the numbers of variables and clauses of a formula, without keeping the clauses."""
    count = 0
    while True:
        try:
            next(clauses)
        except StopIteration as end:
            return end.value, count
        count += 1


def formula_sha256(variables: int, clauses: Iterable[Iterable[int]], count: int) -> str:
    """Return the SHA-256 digest, in hexadecimal, of a formula in DIMACS format."""
    text = sha256()
    for line in dimacs(variables, clauses, count):
        text.update(line)
    return text.hexdigest()


def dimacs(variables: int, clauses: Iterable[Iterable[int]], count: int) -> Iterator[bytes]:
    """Yield the lines of a formula in DIMACS format."""
    yield f"p cnf {variables} {count}\n".encode()
    for clause in clauses:
        yield ("".join(f"{literal} " for literal in clause) + "0\n").encode()
