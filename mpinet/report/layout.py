"""Layout of networks: positions of nodes in the plane, by a method for each family.

A ring is a circle, a torus a grid, and a hypercube a projected cube. Clusters are small figures on
a circle. Families without a method of their own are laid out by their distances (`stress`).
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
"""Position of a node in the cycle of a network of three symbols, by its last and middle symbols."""

BOW = 0.4
"""Height of the arcs of a grid's rows if all processors of a row are linked."""

MOST_NODES = 20_000
"""Largest number of nodes of a layout; a picture of a larger network would not be readable."""


def layout(topology: NetworkLike, most: int = MOST_NODES) -> Points:
    """Return positions of a network's nodes in the plane.

    Parameters
    ----------
    topology : Topology or str
        The network.
    most : int
        Largest number of nodes allowed.

    Returns
    -------
    ndarray of float64, shape (N, 2)
        x (to the right) and y (upwards) of every node, within -1..1. No two nodes have the same
        position. The result is the same in every run.

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
    # Rounded before equal positions are separated: the last bits differ between machines, and
    # pictures must be equal on all machines.
    return apart(fitted(places(network)))


def require_drawable(network: Topology, most: int = MOST_NODES) -> None:
    """Raise `UsageError` if a network has more than `most` nodes."""
    if network.size > most:
        raise UsageError(
            f"{network.name} has {network.size:,} nodes: a picture shows {most:,} at most."
        )


def places(network: Topology) -> Points:
    """Return positions of a network's nodes on any scale."""
    if isinstance(network, Product):
        known = LAYOUTS.get(network.family)
        return known(network) if known else product(network)
    return LAYOUTS.get(network.family, by_distances)(network)


def by_distances(network: Topology) -> Points:
    """Lay out any network with distances in the plane close to distances in hops."""
    return stress_layout(network.size, edges(network))


def on_circle(network: Topology) -> Points:
    """Place all nodes on a circle, by number."""
    return circle(network.size)


def on_grid(network: Any) -> Points:
    """Place nodes by their coordinates; a single coordinate gives a ring or a path."""
    if len(network.sides) == 1:
        return circle(network.size) if network.family == "torus" else row(network.size)
    return grid(network.sides)


def at_corners(network: Topology) -> Points:
    """Place a small cycle or cube at every corner of a cube (CCC, hierarchical hypercube)."""
    inside = len(network.clusters(0)[-1])
    small = circle(inside) if network.family == "ccc" else cube(inside.bit_length() - 1)
    return nested(cube((network.size // inside).bit_length() - 1), tilted(small))


def product(network: Product) -> Points:
    """Place a product of two lines as a grid, another product as copies of the first factor.

    The copies are small and placed at the positions of the second factor's nodes.
    """
    if sides := line_sides(network):
        return grid(sides)
    return nested(places(network.second), tilted(places(network.first)))


def line_sides(network: Product) -> list[int] | None:
    """Return the sides of a product of two lines in the form of `grid`; None for other products."""
    sides = [_side(factor) for factor in reversed(network.factors)]
    return [side for side in sides if side] if all(sides) else None


def _side(factor: Topology) -> int | None:
    """Return the number of nodes of a path or ring; None for other networks."""
    line = factor.family == "ring" or len(getattr(factor, "sides", "..")) == 1
    return factor.size if line or factor.size == 2 else None


def petersen(network: Topology) -> Points:
    """Place Petersen graphs, nested for a product, and cubes of Petersen graphs."""
    digits = len(str(network.size)) - 1
    # The product has 10 nodes per Petersen factor; the remaining factor is a cube.
    while network.size % 10**digits:
        digits -= 1
    points = cube((network.size // 10**digits).bit_length() - 1)
    shape = np.concatenate([circle(5), 0.5 * circle(5)])
    for _ in range(digits):
        points = nested(points, shape)
    return points


def _tree(m: int, h: int) -> Points:
    """Place a fat tree: the processors in a row, each level of switches above."""
    width = m**h
    switches = (np.arange(m ** (h - 1)) + 0.5) * m - 0.5
    height = 0.55 * width / h
    levels = [height * level + np.zeros(len(switches)) for level in range(1, h + 1)]
    return np.concatenate([row(width), *(np.stack([switches, level], 1) for level in levels)])


def in_generations(network: Any) -> Points:
    """Place a tree with the root on top and the leaves in a row; a star with the centre inside."""
    k, h = int(network.params[2]), network.height
    if h == 1:
        return np.concatenate([np.zeros((1, 2)), circle(k)])
    width, levels = k**h, range(h + 1)
    across = [(np.arange(k**level) + 0.5) * k ** (h - level) - 0.5 for level in levels]
    up = np.repeat(0.55 * width / h * (h - np.arange(h + 1)), [k**level for level in levels])
    return np.stack([np.concatenate(across), up], axis=1)


def round_trees(network: Any) -> Points:
    """Place fat trees in a circle, with their top switches inside."""
    m, h, c = (int(network.params[at]) for at in (2, 3, 4 + int(network.params[3]) + 1))
    tree = _tree(m, h)
    turn = (tree[:, 0] + 0.5) / m**h
    radius = 1 - 0.72 * tree[:, 1] / tree[:, 1].max()
    angles = pi / 2 - 2 * pi * (np.arange(c)[:, np.newaxis] + 0.06 + 0.88 * turn) / c
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=2).reshape(-1, 2)


def _stages(network: Topology, stages: int) -> Points:
    """Place stages or levels from left to right, their switches from top to bottom."""
    width = network.size // stages
    gap = max(1.0, 1.2 * width / max(1, stages))
    stage, switch = np.divmod(np.arange(network.size), width)
    return np.stack([gap * stage, -1.0 * switch], axis=1)


def dragonfly(network: Any) -> Points:
    """Place groups on a circle: their routers on small circles, surrounded by processors."""
    p, a = network.terminals, network.routers
    routers = circle(a) if a > 1 else np.zeros((1, 2))
    at = (np.arange(p * a) + 0.5) / (p * a) - 0.5 / a
    angles = pi / 2 - 2 * pi * at
    around = 1.7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return _groups(network, np.concatenate([around, routers]))


def megafly(network: Any) -> Points:
    """Place groups on a circle: processors outside, leaf and spine switches further inside."""
    p, s = network.terminals, network.routers
    width = max(p * s, 2)
    switches = (np.arange(s) + 0.5) * (width / s)
    processors = (np.arange(p * s) + 0.5) * (width / (p * s))
    rows = [(processors, 0.9), (switches, 0.5), (switches, 0.0)]
    inside = [np.stack([x, np.full(len(x), width * y)], axis=1) for x, y in rows]
    return _groups(network, np.concatenate(inside))


def _groups(network: Topology, inside: Points) -> Points:
    """Place groups of equal shape on a circle; `inside` is the layout of one group."""
    groups = network.size // len(inside)
    hosts = network.hosts // groups
    points = nested(circle(groups), inside, turned=True).reshape(groups, len(inside), 2)
    return np.concatenate([points[:, :hosts].reshape(-1, 2), points[:, hosts:].reshape(-1, 2)])


def slim_fly(network: Any) -> Points:
    """Place two columns of q blocks: processors with equal first coordinate on a small circle.

    The columns are the halves of a graph of McKay, Miller and Siran. Links within a half stay
    within a block. A block of the left half has one link to every processor of a block of the right
    half.
    """
    q = network.q
    left = nested(grid([q, 1]), circle(q))
    return np.concatenate([left, left + np.array([0.9 * q, 0.0])])


def polar_fly(network: Any) -> Points:
    """Place the last point in the centre, its neighbours around it, the others outside."""
    points = np.zeros((network.size, 2))
    ports = np.arange(network.ports)
    root = network.size - 1
    inner = network.neighbor(root, ports)
    points[inner] = 0.45 * circle(len(inner))
    outer = [network.neighbor(int(node), ports) for node in inner]
    # Two points have exactly one common neighbour, here the root. So each outer node belongs to one
    # inner node.
    free = [[v for v in shape if v >= 0 and v != root and v not in inner] for shape in outer]
    for at, nodes in enumerate(free):
        spread = (np.arange(len(nodes)) + 0.5) / max(1, len(nodes)) - 0.5
        angles = pi / 2 - 2 * pi * (at + 0.86 * spread) / len(inner)
        points[nodes] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return points


def complete_grid(network: Any) -> Points:
    """Place a grid; rows of a two-sided grid are bent, as all their processors are linked."""
    sides = network.sides
    if len(sides) == 1:
        return circle(network.size)
    points = grid(sides)
    if len(sides) > 2:
        return points
    # An arc over a side has height 0 at its ends, 1 in the middle.
    down, right = np.divmod(np.arange(network.size), sides[1])
    points[:, 0] -= BOW * (1.0 - (2 * down / (sides[0] - 1) - 1) ** 2)
    points[:, 1] += BOW * (1.0 - (2 * right / (sides[1] - 1) - 1) ** 2)
    return points


def dual_net(network: Any) -> Points:
    """Place clusters on nested circles, a circle per level, around copies of the base."""
    points = _base(network.levels.base, network.levels.coordinates)
    for below, size in zip(network.levels.sizes, network.levels.sizes[1:], strict=False):
        points = nested(circle(size // below), points, turned=True)
    return points


def _base(factors: Any, digits: Any) -> Points:
    """Place the base's product: two factors as rows and columns, others as circles."""
    order = sorted(range(len(digits)), key=lambda j: -digits[j][0])
    sides = [factors[j].size for j in order]
    if len(sides) == 1:
        return circle(sides[0]) if sides[0] > 2 else row(2)
    return grid(sides)


def banyan(network: Any) -> Points:
    """Place one cube per level, each above the previous one."""
    shape = cube(network.label_bits) * np.array([1.0, 0.4])
    levels = network.size >> network.label_bits
    step = np.array([0.0, np.ptp(shape[:, 0]) / levels + np.ptp(shape[:, 1])])
    return np.concatenate([shape + level * step for level in range(levels)])


def honeycomb(network: Topology) -> Points:
    """Place hexagons: the three coordinates of a processor count along three directions."""
    from mpinet.networks.classic.hexcell import coordinates

    points: Points = np.array([coordinates(u) for u in range(network.size)]) @ circle(3)
    return points


def digit_polygons(network: Topology) -> Points:
    """Place nested clusters, each on the corners of a polygon (snowflake, star of busses)."""
    p, n = int(network.params[2]), int(network.params[3])
    return polygons([p] * n)


def lens_rows(network: Any) -> Points:
    """Place the rows of a lens one after another on a circle, with gaps between rows."""
    rows = _rows_of_lens(network)
    counts = np.bincount(rows, minlength=network.level + 1)[1:]
    place = np.empty(network.size)
    place[np.argsort(rows, kind="stable")] = np.concatenate(
        [(np.arange(count) + 0.5) / count for count in counts if count]
    )
    angles = pi / 2 - 2 * pi * (rows - 1 + 0.08 + 0.84 * place) / network.level
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _rows_of_lens(network: Any) -> Ints:
    """Return the row 1..n of every processor."""
    n = network.level
    if network.family == "plens":
        from mpinet.networks.lens.columns import row_and_column

        nodes = range(network.size)
        return np.array([row_and_column(node, network.params)[0] for node in nodes], np.int64)
    left, right = network.radices
    return np.repeat(np.arange(1, n + 1), [left**k * right ** (n - k) for k in range(1, n + 1)])


def permutations(network: Any) -> Points:
    """Place networks of permutations: nodes with equal last symbol on a circle, recursively.

    The innermost cluster is a hexagon, or a complete graph for the arrangement graph.
    """
    n, k = network.symbols, network.positions
    words = np.array([network.address(node).split(",") for node in range(network.size)], int)
    lower = words[:, np.newaxis, :] < words[:, :, np.newaxis]
    digits = words - (lower & np.triu(np.ones((k, k), bool), 1)).sum(axis=2)
    radices = list(range(n, n - k, -1))
    columns = [digits[:, place] for place in reversed(range(k))]
    if network.family in HEXAGONS and n > 2:
        # Networks of three symbols are rings of six nodes. A circle of three circles of two nodes
        # would hide the ring.
        radices[-3:] = [6]
        columns[-3:] = [HEXAGONS[network.family][digits[:, 2], digits[:, 1]]]
    number = np.zeros(network.size, np.int64)
    for radix, column in zip(radices, columns, strict=True):
        number = number * radix + column
    return polygons(radices, turned=True)[number]


def blocks(network: Any) -> Points:
    """Place blocks of a block shift network on a circle, with the processors around them."""
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
        (lambda net: grid([net.size // net.columns, net.columns]), "lattice"),
        (lambda net: cube(len(bin(net.size)) - 3), "hypercube foldedcube tq cq hkv exchangedcube"),
        (at_corners, "ccc hhc"),
        (petersen, "petersen hp fp fpq"),
        (lambda net: _tree(int(net.params[2]), int(net.params[3])), "fattree karytree"),
        (round_trees, "roadrunner"),
        (lambda net: _stages(net, int(net.params[3])), "multistage"),
        (lambda net: _stages(net, net.size // net.rows), "butterfly benes"),
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
"""Layout functions by family; other families are laid out by distances."""
