"""Broadcasting (Section 5): broadcast(SN), Algorithm 2, Theorem 3, and the mended algorithm.

The printed Algorithm 2 is read generously: every informed node acts in every phase. T of a product
is the sum of its factors' times, because the described procedure handles one factor after another.
An exception is the claim about the printed product of the times.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log2, prod
from typing import Any

from mpinet.claims import BEYOND, Corrected, Measured, claim, points, section
from mpinet.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.hdn.grids import (
    FIG10,
    FIG11,
    MOST,
    R1_AND_R2,
    R1_BY_SIZE,
    Net,
    covers_base,
    is_not_nested,
    is_small,
    listed,
    net,
    nodes_of,
    number_in,
    of_r1,
    pairs_of,
    size_of,
    within_r1,
)
from mpinet.papers.hdn.measured import diameter
from mpinet.papers.hdn.runs import MENDED, PRINTED, on_machine, runs
from mpinet.programs.broadcast import broadcast

PRODUCTS = points(
    "K2xC3, K2^3, C3xC5, K2xC3xC5",
    [{"topology": f"hdn:{base}"} for base in ("2x3", "2x2x2", "3x5", "2x3x5")],
)


def slowest(topology: str) -> Measured:
    """Return the latest step in which a node is informed, over all roots.

    The result is N + 1 if some broadcast does not inform all nodes.
    """
    found = runs(topology, MENDED)
    # An incomplete broadcast must not count as fast, so its time exceeds that of any complete
    # broadcast.
    if found.least("informed").value < size_of(topology):
        return Measured(
            size_of(topology) + 1, {"not all are informed from": found.least("informed")}
        )
    return found.most("last")


def slowest_one_port(topology: str) -> Measured:
    """Return the same as `slowest`, after a run from every root on the one-port machine."""
    network = open_topology(topology)
    # The machine rejects a second send or reception in a step, so every root has to be tried.
    for root in range(network.size):
        broadcast(Machine(network, "one"), root, MENDED)
    return slowest(topology)


def sum_of_times(topology: str) -> int:
    """Return the sum of the times of a product's factors, broadcast one after another."""
    product = net(topology)
    return sum(product.broadcast((j,)) for j in product.all)


def times_multiply(topology: str) -> bool:
    """Return whether the sum of the factors' times equals their product."""
    found: Net = net(topology)
    times = [found.broadcast((j,)) for j in found.all]
    return sum(times) == prod(times)


BROADCASTS_OF_PRODUCTS = (
    claim(
        "HDN-S5-T-product",
        claimed=lambda topology: prod(net(topology).broadcast((j,)) for j in net(topology).all),
        grid=PRODUCTS,
        measured=slowest_one_port,
        fails_where=(
            "the sum of the factors' times is not their product",
            lambda topology: not times_multiply(topology),
        ),
    ),
    claim(
        "HDN-S5-T-sum",
        place="Sec 5, procedure",
        claimed=sum_of_times,
        grid=PRODUCTS,
        measured=slowest_one_port,
        corrects="HDN-S5-T-product",
    ),
)


def theorem_3(topology: str) -> int:
    """Return Theorem 3's steps: 2^k T(B) - sum of 2^i T(SN^{k-i}) + 2^(k+1) - 2."""
    return net(topology).closed_form(net(topology).broadcast)


@claim(
    "HDN-A2-one-port",
    relation="<=",
    claimed={"sent": 1, "received": 1},
    grid=R1_BY_SIZE,
    cost=pairs_of,
)
def one_port(topology: str) -> Measured:
    """Return the most messages of a node in a step, after a run from node 0 with one port."""
    on_machine(topology, MENDED, "one")
    found = runs(topology, MENDED)
    values = {"sent": found.most("sent").value, "received": found.most("received").value}
    return Measured(values, found.most("received").where)


R1_AND_FIGURES = points(
    "R1, and the networks of Figures 10 and 11", lambda: listed([*of_r1(), FIG10, FIG11])
).quick(lambda topology: is_small(topology) or topology == FIG11)


def left_informed(topology: str) -> int:
    """Return the number of nodes that the printed algorithm informs."""
    found = net(topology)
    share = 1
    for low, high in pairwise(found.members):
        # Algorithm 2 calls itself twice for each level, so the nodes left out at a lower level are
        # left out by both calls.
        share = share**2 * prod(found.base[j][1] for j in set(low) - set(high))
    return found.nodes(found.k) // share


claim_algorithm_2_as_printed = section(place="Algorithm 2 as printed", cause="broadcast-order")

complete = claim_algorithm_2_as_printed(
    "HDN-A2-complete",
    claimed=size_of,
    grid=R1_AND_FIGURES,
    cost=lambda topology: min(pairs_of(topology), nodes_of(topology)),
    reading="every informed node acts in every phase, the most generous one. On the network "
    "of the paper's own Figure 11 it informs 6,000 of the 12,000 nodes (above N = 1100: from 18 "
    "sources).",
    degenerate=covers_base,
    measured=lambda topology: runs(topology, PRINTED).least("informed"),
    fails_where=("some SN^i is not contained in SN^(i+1)", is_not_nested),
    corrected=Corrected("HDN-C-printed-broadcast", claimed=left_informed),
)


def outweighs_first(topology: str) -> bool:
    """Return whether k = 2 and T(SN^2 - SN^1) >= T(SN^1 - SN^2), with SN^2 not within SN^1."""
    found = net(topology)
    if found.k != 2:
        return False
    first, second = map(set, found.members)
    beyond, lacking = (found.broadcast(tuple(part)) for part in (second - first, first - second))
    return bool(second - first) and beyond >= lacking


@claim_algorithm_2_as_printed(
    "HDN-A2-steps",
    relation="<=",
    claimed=theorem_3,
    grid=R1_BY_SIZE,
    cost=pairs_of,
    note="Theorem 3 itself holds: the mended algorithm keeps to the bound (HDN-Th3-bound).",
    fails_where=(
        "k = 2, SN^2 is not contained in SN^1, and T(SN^2 - SN^1) >= T(SN^1 - SN^2)",
        outweighs_first,
    ),
)
def printed_steps(topology: str) -> Measured:
    """Return the step of the last reception over all sources, even by an informed node."""
    found = runs(topology, PRINTED)
    where = {"fewest informed": found.least("informed").value, "nodes": size_of(topology)}
    return Measured(found.most("ended").value, found.most("ended").where | where)


mended_steps = claim(
    "HDN-Th3-bound",
    statement="broadcasting can be done in 2^k T(B) - sum of 2^i T(SN^{k-i}) + 2^(k+1) - 2 steps: "
    f"by the mended algorithm, from every source up to N = {MOST}, above from 18",
    relation="<=",
    claimed=theorem_3,
    grid=R1_AND_R2,
    cost=lambda topology: min(pairs_of(topology), nodes_of(topology)),
    measured=slowest,
)


def printed_recurrence(found: Net) -> int:
    """Return T_k = T(SN^{k-1}) + 2 T_{k-1} + 2, with T_1 = 2 (T(B) - T(SN^1)) + 2."""
    steps = 2 * (found.broadcast(found.all) - found.broadcast(found.members[0])) + 2
    for level in range(2, found.k + 1):
        # The proof's recurrence as printed. The term 2 stands for the two crossings of level k.
        steps = found.broadcast(found.members[level - 2]) + 2 * steps + 2
    return steps


def exceeds_in_recurrence(topology: str) -> bool:
    """Return whether the printed recurrence exceeds the bound of Theorem 3, for k = 2, 3."""
    found = net(topology)
    times = [found.broadcast(members) for members in found.members]
    if found.k == 2:
        return 2 * times[1] > times[0]
    return 2 * times[2] + 3 * times[1] > 2 * times[0]


def steps_by_recurrence(topology: str) -> int:
    """Return the steps by the corrected recurrence."""
    found = net(topology)
    steps = found.broadcast(found.all)
    for members in found.members:
        steps = 2 * steps + 2 - found.broadcast(members)
    return steps


@claim(
    "HDN-Th3-recurrence",
    relation="<=",
    claimed=theorem_3,
    measures=False,
    degenerate=covers_base,
    grid=points("R1, k = 2, 3; by formula", lambda: listed(of_r1(lambda found: found.k in (2, 3)))),
    fails_where=(
        "k = 2 and 2 T(SN^2) > T(SN^1), or k = 3 and 2 T(SN^3) + 3 T(SN^2) > 2 T(SN^1)",
        exceeds_in_recurrence,
    ),
    corrected=Corrected("HDN-C-Th3-recurrence", measured=steps_by_recurrence),
)
def solved_recurrence(topology: str) -> int:
    """Return the steps by the printed recurrence."""
    found = net(topology)
    return found.broadcast(found.members[-1]) + printed_recurrence(found)


def exact_steps(topology: str) -> int:
    """Return the mended broadcast's steps: Theorem 3's value, minus 2^(k-1) if SN^1 = B."""
    return theorem_3(topology) - (2 ** (net(topology).k - 1) if covers_base(topology) else 0)


claim_beyond = section(place=BEYOND)


@claim_beyond(
    "HDN-X-bcast-exact",
    claimed=lambda topology: {
        "informed": size_of(topology),
        "messages": size_of(topology) - 1,
        "to nodes that had one": 0,
        "steps": exact_steps(topology),
        "steps on the machine": exact_steps(topology),
        "last reception": exact_steps(topology),
    },
    grid=R1_BY_SIZE,
    cost=pairs_of,
)
def exact(topology: str) -> dict[str, Any]:
    """Return counts of broadcasts from every source, and from node 0 on the one-port machine."""
    found = runs(topology, MENDED)
    return {
        "informed": found.least("informed").value,
        "messages": found.most("messages").value,
        "to nodes that had one": found.most("again").value,
        "steps": found.most("length").value,
        "steps on the machine": on_machine(topology, MENDED, "one").steps,
        "last reception": found.least("last").value,
    }


def is_even(found: Net) -> bool:
    """Return whether every factor is K2 or an even ring."""
    return all(size == 2 or (kind == "C" and size % 2 == 0) for kind, size in found.base)


@claim_beyond(
    "HDN-X-bcast-optimal",
    claimed=0,
    grid=within_r1(
        "factors K2 and even rings, SN^1 != B",
        lambda found: is_even(found) and not covers_base(found.name),
    ),
    cost=pairs_of,
)
def beyond_diameter(topology: str) -> Measured:
    """Return the step of the last reception over all sources, minus the diameter."""
    steps, hops = slowest(topology), diameter(topology)
    return Measured(steps.value - hops.value, {"steps": steps.value, "diameter": hops.value})


@claim_beyond(
    "HDN-X-ring-broadcast",
    claimed=lambda topology: (
        ceil(log2(number_in(topology)))
        if topology.startswith("complete")
        else ceil(number_in(topology) / 2)
    ),
    grid=points(
        "C_n, n = 3..13; K_n, n = 2..11",
        sorted(
            [{"topology": f"ring:{n}"} for n in range(3, 14)]
            + [{"topology": f"complete:{n}"} for n in range(2, 12)],
            key=lambda point: number_in(point["topology"]),
        ),
    ).quick(lambda topology: number_in(topology) <= 9 or topology.startswith("ring")),
)
def quickest(topology: str) -> int:
    """Return the fewest steps of a broadcast, by trying all schedules.

    The search follows the sets of nodes that can be informed after each step.
    """
    behind = neighbor_table(open_topology(topology)).tolist()
    all_nodes, steps = frozenset(range(len(behind))), 0
    reached = {frozenset([0])}
    # Sets replace schedules, because the continuation depends only on the set of informed nodes.
    while all_nodes not in reached:
        reached = {after for before in reached for after in next_sets(before, behind)}
        steps += 1
    return steps


def next_sets(informed: frozenset[int], behind: list[list[int]]) -> set[frozenset[int]]:
    """Return the sets of informed nodes after a step in which each informed node sends if possible.

    A node always sends to an uninformed node, because idling has no advantage. Only sets that are
    contained in no other set are kept.
    """
    found = {informed}
    for node in informed:
        found = {
            after | {other}
            for after in found
            for other in [v for v in behind[node] if v >= 0 and v not in after] or [node]
        }
    # An additional informed node never delays a broadcast, so smaller sets can be ignored.
    return {after for after in found if not any(after < other for other in found)}
