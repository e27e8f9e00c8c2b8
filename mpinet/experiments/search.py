"""Search for networks with small distances among lifts (the order/degree problem).

Chains start with random lifts, one chain per shape (number of base nodes and group), and change
them by moves. A move is kept if the sum of distances does not exceed the sum some moves ago (late
acceptance: Burke and Bykov, 2017). After each of four rounds the better half of the chains
continues. Chains are distributed to ranks; their results depend only on the seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx

from mpinet.errors import TooLarge, UsageError, WiringError
from mpinet.experiments.compare import Subject
from mpinet.experiments.dealing import deal
from mpinet.experiments.find import row_of
from mpinet.experiments.journal import Journal
from mpinet.experiments.lifts import Dice, Lift, SemidirectProduct, shapes
from mpinet.machine.transport import Local, alone
from mpinet.measure.sampling import least_sum
from mpinet.networks.graph import from_networkx
from mpinet.networks.topology import Topology

ROUNDS = 4
"""Number of rounds of a search, with equal shares of the moves."""

FEWEST = 4
"""Number of chains in the last round."""

MOST_CHAINS = 32
"""Largest number of chains in the first round."""

HISTORY = 40
"""Divisor: a chain compares with its state a 40th of its moves ago."""


MOST_ENDS = 2**20
"""Number of link ends of the largest network in a search."""

MOST_MOVES = 10**9


def require_search(size: int, degree: int, moves: int) -> None:
    """Raise an error unless a search supports this size, degree and number of moves."""
    if not 2 <= degree < size or size * degree % 2:
        raise UsageError(
            f"--search needs a degree of 2 to N - 1 and N * degree even, not N = "
            f"{size}, degree {degree}."
        )
    if size * degree > MOST_ENDS:
        raise TooLarge(
            f"--search makes networks with up to {MOST_ENDS:,} ends of links, but "
            f"{size} nodes of degree {degree} have {size * degree:,}."
        )
    if not 1 <= moves <= MOST_MOVES:
        raise UsageError(f"--moves takes 1..{MOST_MOVES:,} networks, not {moves}.")


def search(
    size: int,
    degree: int,
    moves: int,
    seed: int,
    transport: Local,
    journal: Journal | None = None,
    watch: Callable[..., None] = lambda *done: None,
) -> list[dict[str, Any]]:
    """Search for networks of this size and degree (collective).

    Parameters
    ----------
    size, degree : int
        Number of nodes, and largest number of links per node.
    moves : int
        Total number of networks to try; each costs one flood per base node.
    seed : int
        Seed of all chains.
    transport : Local
        The ranks that run the chains.
    journal : Journal, optional
        Stores the results of chains.
    watch : callable
        Called with the number of moves made, and the total number.

    Returns
    -------
    list of dict
        The best connected network of each chain, the best chain first: base, m, n, k, mates,
        voltages, missing (unconnected pairs: 0), diameter, total.

    Raises
    ------
    UsageError
        There is no lift of this size and degree.
    """
    every = shapes(size, degree)
    if not every:
        raise UsageError(f"There is no network of {size} nodes with {degree} links each.")
    # A stride keeps shapes with one base node and shapes with many. The first shapes alone would
    # all be Cayley graphs.
    chains = every[:: -(-len(every) // MOST_CHAINS)]
    found: dict[int, dict[str, Any]] = {}
    alive = [*range(len(chains))]

    def place_of(chain: int) -> tuple[int, int, float, int]:
        """Return the sort key of chains: unconnected pairs, diameter, mean distance."""
        each = found[chain]
        return each["missing"], each["diameter"], each["total"] / each["base"], chain

    for turn in range(ROUNDS):
        each = max(1, moves // ROUNDS // len(alive))
        # The name is also the key of the random numbers. It states all inputs of a chain, and no
        # rank is among them.
        names = {f"{size} {degree} {seed} {moves} {turn} {chain}": chain for chain in alive}
        work = partial(_worked, chains, degree, each, names, found)
        dealt = deal([[name] for name in names], work, transport, journal, strict=True)
        said = {chain: dealt.found.get(name) for name, chain in names.items()}
        told = json.loads(transport.share(json.dumps([*said.items()]).encode()))
        found |= dict(told)
        watch(moves * (turn + 1) // ROUNDS, moves)
        alive = sorted(alive, key=place_of)[: max(FEWEST, -(-len(alive) // 2))]
    best = [found[chain] for chain in sorted(found, key=place_of)]
    return [each for each in best if not each["missing"]]


def _worked(
    chains: list[tuple[int, SemidirectProduct]],
    degree: int,
    moves: int,
    names: dict[str, int],
    found: dict[int, dict[str, Any]],
    key: str,
    ranks: Local,
) -> dict[str, Any]:
    """Continue the chain of moves with this key, and return its best lift."""
    chain = names[key]
    return improved(*chains[chain], degree, moves, key, found.get(chain))


def improved(
    base: int,
    group: SemidirectProduct,
    degree: int,
    moves: int,
    key: str,
    start: dict[str, Any] | None,
) -> dict[str, Any]:
    """Change a lift by moves, and return the best lift found."""
    dice = Dice(key)
    lift = Lift(base, group, degree, *((start["mates"], start["voltages"]) if start else ()))
    if start is None:
        lift.draw(dice)
    now = best = lift.cost()
    kept = [*lift.mates], [*lift.voltages]
    history = [_energy(now, lift.size)] * max(1, moves // HISTORY)
    for turn in range(moves):
        before = lift.move(dice)
        cost = lift.cost()
        energy, place = _energy(cost, lift.size), turn % len(history)
        # Late acceptance leaves local optima without a temperature, which would need tuning for
        # each size.
        if energy <= max(history[place], _energy(now, lift.size)):
            now = cost
            if cost < best:
                best, kept = cost, ([*lift.mates], [*lift.voltages])
        else:
            lift.undo(before)
        # Only improvements enter the history: a long climb would otherwise raise the threshold
        # permanently.
        history[place] = min(history[place], _energy(now, lift.size))
    missing, diameter, total = best
    return {
        "base": base,
        "m": group.m,
        "n": group.n,
        "k": group.k,
        "mates": kept[0],
        "voltages": kept[1],
        "missing": missing,
        "diameter": diameter,
        "total": total,
    }


def lift_of(found: dict[str, Any], degree: int) -> Lift:
    """Rebuild the lift from a chain's result."""
    group = SemidirectProduct(found["m"], found["n"], found["k"])
    return Lift(found["base"], group, degree, found["mates"], found["voltages"])


def measured(found: dict[str, Any], degree: int) -> tuple[Topology, dict[str, Any]]:
    """Return the network of a chain's result, and its row, measured by floods from all nodes.

    Raises
    ------
    WiringError
        The floods from all nodes contradict the distances from the search.
    """
    lift = lift_of(found, degree)
    graph = networkx.Graph()
    graph.add_nodes_from(range(lift.size))
    graph.add_edges_from(lift.links().tolist())
    jumps = lift.jumps
    name = f"circulant:{lift.size},jumps={'-'.join(map(str, jumps))}" if jumps else ""
    with alone():
        network = from_networkx(graph)
        row = row_of(Subject(network, 0.0))
    average = found["total"] / found["base"] / (lift.size - 1)
    # The search floods from one node of each class. Floods from all nodes verify the use of
    # symmetry.
    if row["diameter"] != found["diameter"] or abs(row["average_distance"] - average) > 1e-9:
        raise WiringError(
            f"A lift of {found['base']} nodes by {lift.group} was expected to have diameter "
            f"{found['diameter']} and mean distance {average:.6f}, but floods from all nodes "
            f"find {row['diameter']} and {row['average_distance']:.6f}."
        )
    least = least_sum(lift.size, degree) / (lift.size - 1)
    symmetry = f"{found['base']} by {lift.group}"
    return network, row | {"topology": name, "least_average": least, "symmetry": symmetry}


def _energy(cost: tuple[int, int, int], size: int) -> int:
    """Return the sum of distances; an unconnected pair counts with distance `size`."""
    missing, _, total = cost
    return total + missing * size
