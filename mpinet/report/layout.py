"""Places of a network's nodes in the plane: a layout that fits its family.

A ring is a circle, a torus a grid, a hypercube a projected cube, clusters stand on a circle with
their inside small. What has no picture of its own is laid out by its distances (`stress`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.measure.wiring import edges
from mpinet.networks.catalogue import open_topology
from mpinet.networks.product import Product
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.report.shapes import (
    Points,
    apart,
    circle,
    cube,
    fitted,
    grid,
    nearest,
    nested,
    polygons,
    row,
    tilted,
)
from mpinet.report.stress import stress_layout

HEXAGONS = {
    "stargraph": np.array([[5, 4], [2, 3], [1, 0]]),
    "pancake": np.array([[5, 4], [2, 3], [1, 0]]),
    "bubblesort": np.array([[3, 2], [4, 5], [1, 0]]),
}
"""Place in the cycle of the network of three symbols, by the last symbol and the middle one."""

BOW = 0.4
"""Height of the arcs on which a grid's rows are bent if all their processors are joined."""

MOST_NODES = 20_000
"""Most nodes of a network that is laid out: a larger picture is a blot."""


def layout(topology: NetworkLike, most: int = MOST_NODES) -> Points:
    """Places of a network's nodes in the plane.

    Parameters
    ----------
    topology : Topology or str
        The network.
    most : int
        Nodes that it may have.

    Returns
    -------
    ndarray of float64, shape (N, 2)
        x (to the right) and y (upwards) of every node, within -1..1, no two at one place; the same
        in every run.

    Raises
    ------
    UsageError
        The network has too many nodes.

    Examples
    --------
    >>> layout("ring:4").tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]
    """
    network = open_topology(topology)
    require_drawable(network, most)
    # Rounded before equal places are told apart: the last bits differ between machines, and
    # pictures must not.
    return apart(fitted(places(network)))


def require_drawable(network: Topology, most: int = MOST_NODES) -> None:
    """Raise `UsageError` if a network has more than `most` nodes."""
    if network.size > most:
        raise UsageError(
            f"{network.name} has {network.size:,} nodes: a picture shows {most:,} at most."
        )


def places(network: Topology) -> Points:
    """Places of a network's nodes on any scale."""
    if isinstance(network, Product):
        known = LAYOUTS.get(network.family)
        return known(network) if known else product(network)
    return LAYOUTS.get(network.family, by_distances)(network)


def by_distances(network: Topology) -> Points:
    """Lay out any network so that hops are distances in the plane."""
    return stress_layout(network.size, edges(network))


def on_circle(network: Topology) -> Points:
    """Place all nodes on one circle, by number."""
    return circle(network.size)


def on_grid(network: Any) -> Points:
    """Place nodes by their coordinates; one coordinate makes a ring or a path."""
    if len(network.sides) == 1:
        return circle(network.size) if network.family == "torus" else row(network.size)
    return grid(network.sides)


def on_cube(network: Topology) -> Points:
    """Place nodes at the corners of a cube, by the bits of their numbers."""
    return cube(network.size.bit_length() - 1)


def at_corners(network: Topology) -> Points:
    """Place a small cycle, or cube, at every corner of a cube (CCC, hierarchical hypercube)."""
    inside = len(network.clusters(0)[-1])
    small = circle(inside) if network.family == "ccc" else cube(inside.bit_length() - 1)
    return nested(cube((network.size // inside).bit_length() - 1), tilted(small))


def product(network: Product) -> Points:
    """Place two lines as a grid; else a small copy of the first factor at each of the second's."""
    if sides := line_sides(network):
        return grid(sides)
    return nested(places(network.second), tilted(places(network.first)))


def line_sides(network: Product) -> list[int] | None:
    """Sides of a product of two lines, as `grid` takes them; None for other products."""
    sides = [_side(factor) for factor in reversed(network.factors)]
    return [side for side in sides if side] if all(sides) else None


def _side(factor: Topology) -> int | None:
    """Number of nodes of a line, open or closed; None for other networks."""
    line = factor.family == "ring" or len(getattr(factor, "sides", "..")) == 1
    return factor.size if line or factor.size == 2 else None


def lattice(network: Any) -> Points:
    """Place nodes by rows and columns."""
    return grid([network.size // network.columns, network.columns])


def petersen(network: Topology) -> Points:
    """Place the star in its ring; nest Petersen graphs, and cubes of them."""
    digits = len(str(network.size)) - 1
    # The family's product has 10 nodes per Petersen factor, and the rest is a cube.
    while network.size % 10**digits:
        digits -= 1
    points = cube((network.size // 10**digits).bit_length() - 1)
    shape = np.concatenate([circle(5), 0.5 * circle(5)])
    for _ in range(digits):
        points = nested(points, shape)
    return points


def in_levels(network: Topology) -> Points:
    """Place a fat tree: the processors in a row, every level of switches above them."""
    return _tree(int(network.params[2]), int(network.params[3]))


def _tree(m: int, h: int) -> Points:
    width = m**h
    switches = (np.arange(m ** (h - 1)) + 0.5) * m - 0.5
    height = 0.55 * width / h
    levels = [height * level + np.zeros(len(switches)) for level in range(1, h + 1)]
    return np.concatenate([row(width), *(np.stack([switches, level], 1) for level in levels)])


def in_generations(network: Any) -> Points:
    """Place a tree with the root above and the leaves in a row; a star with the centre inside."""
    k, h = int(network.params[2]), network.height
    if h == 1:
        return np.concatenate([np.zeros((1, 2)), circle(k)])
    width, levels = k**h, range(h + 1)
    across = [(np.arange(k**level) + 0.5) * k ** (h - level) - 0.5 for level in levels]
    up = np.repeat(0.55 * width / h * (h - np.arange(h + 1)), [k**level for level in levels])
    return np.stack([np.concatenate(across), up], axis=1)


def round_trees(network: Any) -> Points:
    """Place fat trees in a circle, with their tops inside."""
    m, h, c = (int(network.params[at]) for at in (2, 3, 4 + int(network.params[3]) + 1))
    tree = _tree(m, h)
    turn = (tree[:, 0] + 0.5) / m**h
    radius = 1 - 0.72 * tree[:, 1] / tree[:, 1].max()
    angles = pi / 2 - 2 * pi * (np.arange(c)[:, np.newaxis] + 0.06 + 0.88 * turn) / c
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=2).reshape(-1, 2)


def in_stages(network: Topology) -> Points:
    """Place the stages of a multistage network from left to right, switches from top to bottom."""
    return _stages(network, int(network.params[3]))


def in_rows(network: Any) -> Points:
    """Place the levels of a butterfly or Benes network from left to right, rows downwards."""
    return _stages(network, network.size // network.rows)


def _stages(network: Topology, stages: int) -> Points:
    width = network.size // stages
    gap = max(1.0, 1.2 * width / max(1, stages))
    stage, switch = np.divmod(np.arange(network.size), width)
    return np.stack([gap * stage, -1.0 * switch], axis=1)


def dragonfly(network: Any) -> Points:
    """Place groups on a circle: their routers on small circles, the processors around them."""
    p, a = network.terminals, network.routers
    routers = circle(a) if a > 1 else np.zeros((1, 2))
    at = (np.arange(p * a) + 0.5) / (p * a) - 0.5 / a
    angles = pi / 2 - 2 * pi * at
    around = 1.7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return _groups(network, np.concatenate([around, routers]))


def megafly(network: Any) -> Points:
    """Place groups on a circle: processors outside, leaves and spines further inside."""
    p, s = network.terminals, network.routers
    width = max(p * s, 2)
    switches = (np.arange(s) + 0.5) * (width / s)
    processors = (np.arange(p * s) + 0.5) * (width / (p * s))
    rows = [(processors, 0.9), (switches, 0.5), (switches, 0.0)]
    inside = [np.stack([x, np.full(len(x), width * y)], axis=1) for x, y in rows]
    return _groups(network, np.concatenate(inside))


def _groups(network: Topology, inside: Points) -> Points:
    """Place groups of one shape, whose processors come first, as in the network."""
    groups = network.size // len(inside)
    hosts = network.hosts // groups
    points = nested(circle(groups), inside, turned=True).reshape(groups, len(inside), 2)
    return np.concatenate([points[:, :hosts].reshape(-1, 2), points[:, hosts:].reshape(-1, 2)])


def slim_fly(network: Any) -> Points:
    """Place two columns of q blocks: processors with one first coordinate on a small circle.

    The halves of a graph of McKay, Miller and Siran: links within them stay within blocks, and a
    block of the left half has one link to every processor of a block of the right one.
    """
    q = network.q
    left = nested(grid([q, 1]), circle(q))
    return np.concatenate([left, left + np.array([0.9 * q, 0.0])])


def polar_fly(network: Any) -> Points:
    """Place the last point, its neighbours around it, and around these the neighbours of each."""
    points = np.zeros((network.size, 2))
    ports = np.arange(network.ports)
    root = network.size - 1
    inner = network.neighbor(root, ports)
    points[inner] = 0.45 * circle(len(inner))
    outer = [network.neighbor(int(node), ports) for node in inner]
    # Two points have one common neighbour, which is the root here: each outer node belongs to one
    # inner node.
    free = [[v for v in shape if v >= 0 and v != root and v not in inner] for shape in outer]
    for at, nodes in enumerate(free):
        spread = (np.arange(len(nodes)) + 0.5) / max(1, len(nodes)) - 0.5
        angles = pi / 2 - 2 * pi * (at + 0.86 * spread) / len(inner)
        points[nodes] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return points


def complete_grid(network: Any) -> Points:
    """Place a grid; bend the rows of one of two sides, as all their processors are joined."""
    sides = network.sides
    if len(sides) == 1:
        return circle(network.size)
    points = grid(sides)
    if len(sides) > 2:
        return points
    numbers = np.arange(network.size)
    down, right = np.divmod(numbers, sides[1])
    points[:, 0] -= BOW * _bow(down, sides[0])
    points[:, 1] += BOW * _bow(right, sides[1])
    return points


def _bow(place: Ints, side: int) -> Points:
    """Heights of an arc over a side: 0 at its ends, 1 in the middle."""
    arc: Points = 1.0 - (2 * place / (side - 1) - 1) ** 2
    return arc


def dual_net(network: Any) -> Points:
    """Place clusters on a circle, level in level, around small products of the base's factors."""
    points = _base(network.levels.base, network.levels.coordinates)
    for below, size in zip(network.levels.sizes, network.levels.sizes[1:], strict=False):
        points = nested(circle(size // below), points, turned=True)
    return points


def _base(factors: Any, digits: Any) -> Points:
    """Place the base's product: two factors as rows and columns, circles of others within."""
    order = sorted(range(len(digits)), key=lambda j: -digits[j][0])
    sides = [factors[j].size for j in order]
    if len(sides) == 1:
        return circle(sides[0]) if sides[0] > 2 else row(2)
    return grid(sides)


def banyan(network: Any) -> Points:
    """Place one cube per level, one above the other."""
    shape = cube(network.label_bits) * np.array([1.0, 0.4])
    levels = network.size >> network.label_bits
    step = np.array([0.0, np.ptp(shape[:, 0]) / levels + np.ptp(shape[:, 1])])
    return np.concatenate([shape + level * step for level in range(levels)])


def honeycomb(network: Topology) -> Points:
    """Place hexagons: the three coordinates of a processor point in three directions."""
    from mpinet.networks.classic.hexcell import coordinates

    points: Points = np.array([coordinates(u) for u in range(network.size)]) @ circle(3)
    return points


def digit_polygons(network: Topology) -> Points:
    """Place clusters of clusters, each on a polygon's corners (snowflake, star of busses)."""
    p, n = int(network.params[2]), int(network.params[3])
    return polygons([p] * n)


def lens_rows(network: Any) -> Points:
    """Place the rows of a lens one after the other on a circle, with gaps between them."""
    rows = _rows_of_lens(network)
    counts = np.bincount(rows, minlength=network.level + 1)[1:]
    place = np.empty(network.size)
    place[np.argsort(rows, kind="stable")] = np.concatenate(
        [(np.arange(count) + 0.5) / count for count in counts if count]
    )
    angles = pi / 2 - 2 * pi * (rows - 1 + 0.08 + 0.84 * place) / network.level
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _rows_of_lens(network: Any) -> Ints:
    """Row 1..n of every processor."""
    n = network.level
    if network.family == "plens":
        from mpinet.networks.lens.columns import row_and_column

        nodes = range(network.size)
        return np.array([row_and_column(node, network.params)[0] for node in nodes], np.int64)
    left, right = network.radices
    return np.repeat(np.arange(1, n + 1), [left**k * right ** (n - k) for k in range(1, n + 1)])


def permutations(network: Any) -> Points:
    """Place networks of permutations: clusters of one last symbol on a circle, others within.

    What is left at last is a hexagon, and a complete graph of the arrangement graph.
    """
    n, k = network.symbols, network.positions
    words = np.array([_symbols(network, node) for node in range(network.size)])
    lower = words[:, np.newaxis, :] < words[:, :, np.newaxis]
    digits = words - (lower & np.triu(np.ones((k, k), bool), 1)).sum(axis=2)
    radices = list(range(n, n - k, -1))
    columns = [digits[:, place] for place in reversed(range(k))]
    if network.family in HEXAGONS and n > 2:
        # Networks of three symbols are rings of six, which a circle of three circles of two would
        # not show.
        radices[-3:] = [6]
        columns[-3:] = [HEXAGONS[network.family][digits[:, 2], digits[:, 1]]]
    number = np.zeros(network.size, np.int64)
    for radix, column in zip(radices, columns, strict=True):
        number = number * radix + column
    return polygons(radices, turned=True)[number]


def _symbols(network: Topology, node: int) -> list[int]:
    return [int(symbol) for symbol in network.address(node).split(",")]


def blocks(network: Any) -> Points:
    """Place blocks of a block shift network on a circle, their processors within."""
    sizes = getattr(network, "m", None) or [1 << network.shift] * (network.size >> network.shift)
    middles = circle(len(sizes))
    radius = 0.4 * nearest(middles)
    parts = [m + radius * circle(k) for m, k in zip(middles, sizes, strict=True)]
    return np.concatenate(parts)


LAYOUTS: dict[str, Callable[[Any], Points]] = {
    family: place
    for place, families in (
        (on_circle, "ring complete circulant rcirculant chordalring doubleloop gmn gmnany lst"),
        (on_grid, "path mesh torus"),
        (in_generations, "star tree"),
        (lattice, "lattice"),
        (on_cube, "hypercube foldedcube tq cq hkv exchangedcube"),
        (at_corners, "ccc hhc"),
        (petersen, "petersen hp fp fpq"),
        (in_levels, "fattree karytree"),
        (round_trees, "roadrunner"),
        (in_stages, "multistage"),
        (in_rows, "butterfly benes"),
        (dual_net, "hdn rdn dualcube"),
        (banyan, "bh"),
        (dragonfly, "dragonfly"),
        (megafly, "megafly"),
        (slim_fly, "slimfly"),
        (polar_fly, "polarfly"),
        (complete_grid, "hyperx flatbutterfly"),
        (honeycomb, "hexcell"),
        (digit_polygons, "snowflake busstar"),
        (lens_rows, "lens clens plens"),
        (permutations, "stargraph arrangement pancake bubblesort"),
        (blocks, "bsn gbsn"),
    )
    for family in families.split()
}
"""Layouts by family; networks of other families are laid out by distances."""
