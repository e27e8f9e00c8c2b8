"""Search for networks with small distances among lifts (the order/degree problem).

Chains begin with lifts that are drawn, one for each number of base nodes and group, and change them
by moves. A move stays if the sum of distances is not above that of some moves ago (late acceptance:
Burke and Bykov, 2017). In each of four rounds the better half of the chains goes on. Chains are
dealt out to ranks; what they find depends on the seed alone.
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
"""Rounds of a search; an equal share of the moves is made in each."""

FEWEST = 4
"""Chains of the last round."""

MOST_CHAINS = 32
"""Chains of the first round."""

HISTORY = 40
"""A chain compares with what it had this part of its moves ago."""


MOST_ENDS = 2**20
"""Ends of links of the largest network that is searched for."""

MOST_MOVES = 10**9


def require_search(size: int, degree: int, moves: int) -> None:
    """Raise `UsageError` unless networks of this size and degree can be searched for."""
    if not 2 <= degree < size or size * degree % 2:
        raise UsageError(
            f"--search needs a degree of 2 to N - 1, and N degree even; {size}, {degree} is not so."
        )
    if size * degree > MOST_ENDS:
        raise TooLarge(
            f"--search makes networks with up to {MOST_ENDS:,} ends of links, and "
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
        Nodes, and links of each node at most.
    moves : int
        Networks to try in all: each is a flood.
    seed : int
        Seed of all chains.
    transport : Local
        The ranks that chains are dealt out to.
    journal : Journal, optional
        Keeps what chains have found.
    watch : callable
        Called with the moves made on this rank, and all that there are.

    Returns
    -------
    list of dict
        The best network of each chain that has found one in one piece, the best chain first: base,
        m, n, k, mates, voltages, missing (pairs that are not joined: 0), diameter, total.

    Raises
    ------
    UsageError
        There is no lift of this size and degree.
    """
    every = shapes(size, degree)
    if not every:
        raise UsageError(f"There is no network of {size} nodes with {degree} links each.")
    # A stride keeps shapes of one base node and of many. The first ones alone would all be Cayley
    # graphs.
    chains = every[:: -(-len(every) // MOST_CHAINS)]
    found: dict[int, dict[str, Any]] = {}
    alive = [*range(len(chains))]

    def place_of(chain: int) -> tuple[int, int, float, int]:
        """Return the key that chains are sorted by: unjoined pairs, diameter, mean distance."""
        each = found[chain]
        return each["missing"], each["diameter"], each["total"] / each["base"], chain

    for turn in range(ROUNDS):
        each = max(1, moves // ROUNDS // len(alive))
        # The name is also the key of the draws: it states all that a chain depends on, and no rank
        # is in it.
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
    """Go on with the chain that has this key."""
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
    """Change a lift by moves, and return the best one that there was."""
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
        # Late acceptance leaves local optima without a temperature, which would have to be tuned
        # for each size.
        if energy <= max(history[place], _energy(now, lift.size)):
            now = cost
            if cost < best:
                best, kept = cost, ([*lift.mates], [*lift.voltages])
        else:
            lift.undo(before)
        # Only improvements enter the history: a long climb would otherwise raise the threshold for
        # good.
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
    """The lift that a chain has found."""
    group = SemidirectProduct(found["m"], found["n"], found["k"])
    return Lift(found["base"], group, degree, found["mates"], found["voltages"])


def measured(found: dict[str, Any], degree: int) -> tuple[Topology, dict[str, Any]]:
    """The network that a chain has found, and its row, by floods from all nodes.

    Raises
    ------
    WiringError
        They find other distances than the floods of the search, from a node of each base node.
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
    # The search floods from one node of each class. Floods from all nodes prove that the symmetry
    # was applied correctly.
    if row["diameter"] != found["diameter"] or abs(row["average_distance"] - average) > 1e-9:
        raise WiringError(
            f"A lift of {found['base']} nodes by {lift.group} was taken for one of diameter "
            f"{found['diameter']} and mean distance {average:.6f}; floods from all of its nodes "
            f"find {row['diameter']} and {row['average_distance']:.6f}."
        )
    least = least_sum(lift.size, degree) / (lift.size - 1)
    symmetry = f"{found['base']} by {lift.group}"
    return network, row | {"topology": name, "least_average": least, "symmetry": symmetry}


def _energy(cost: tuple[int, int, int], size: int) -> int:
    """Sum of distances, in which a pair that is not joined is as far apart as can be."""
    missing, _, total = cost
    return total + missing * size
