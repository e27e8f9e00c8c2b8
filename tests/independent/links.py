"""Classes of links by the definitions of families, from the addresses of both ends alone."""


def coordinate(u, v):
    """The first coordinate in which the ends differ."""
    return next(
        j for j, (a, b) in enumerate(zip(u.split(","), v.split(","), strict=True)) if a != b
    )


def tree_level(u, v):
    """The higher level of both ends; processors are one number, switches `level,place`."""
    return max(int(end.split(",")[0]) if "," in end else 0 for end in (u, v))


def groups(u, v):
    """1 between groups, 0 within one."""
    return int(u.split(",")[0] != v.split(",")[0])


def leaf_or_spine(u, v, spines):
    """0 at a processor, 1 between the routers of a group, 2 between groups."""
    if "," in u and "," in v and u.count(",") == v.count(",") == 1:
        assert int(u.split(",")[1]) >= spines or int(v.split(",")[1]) >= spines
        return 1 + groups(u, v)
    return 0


def clusters(u, v, levels):
    """The level in a tree, and a class more between trees."""
    (one, u), (other, v) = u.split(":"), v.split(":")
    return levels if one != other else tree_level(u, v)


def twisted(u, v, k):
    """The first short side in which the ends differ, of sides 2k, k, k; else the long one."""
    one, other = ([int(x) for x in label.split(",")] for label in (u, v))
    differ = [j for j in range(len(one)) if one[j] != other[j]]
    return next((j for j in differ if j > 0), 0)


def at_routers(u, v, kinds):
    """The class of routers' links, and one more for those of processors."""
    return kinds if "." in u + v else coordinate(u[1:], v[1:])


def digit_and_bits(u, v):
    """0 where the Petersen digit changes, then the bits."""
    one, other = divmod(int(u), 10), divmod(int(v), 10)
    return (one[0] ^ other[0]).bit_length() if one[1] == other[1] else 0


def of_factors(u, v, first, second, classes):
    """The class in the factor that changes; the second's are numbered behind the first's."""
    (a, b), (c, d) = u[1:-1].split("|"), v[1:-1].split("|")
    return first(a, c) if a != c else classes + second(b, d)


def bit(u, v):
    """The bit in which two binary labels differ."""
    return (int(u, 2) ^ int(v, 2)).bit_length() - 1


KINDS = {
    "ring:5": lambda u, v: 0,
    "debruijn:3": lambda u, v: 0,
    "mesh:2x3x2": coordinate,
    "torus:3x4": coordinate,
    "hyperx:3x2x4": coordinate,
    "flatbutterfly:3,3": coordinate,
    "hypercube:3": bit,
    "fattree:2,3": tree_level,
    "karytree:3,2": tree_level,
    "fattree:3,1": tree_level,
    "dragonfly:2,2,1": groups,
    "megafly:2,2,1": lambda u, v: leaf_or_spine(u, v, 2),
    "roadrunner:3,2,2": lambda u, v: clusters(u, v, 2),
    "twistedtorus:6x3x3": lambda u, v: twisted(u, v, 3),
    "dgx1": lambda u, v: 0,
    "dgxa100:2": lambda u, v: int("nvswitch" not in u + v),
    "rail:2,3,1": lambda u, v: int("nvswitch" not in u + v),
    "mi250:2": lambda u, v: int("switch" in (u, v)),
    "hammingmesh:2,2,2,2": lambda u, v: int("row" in u + v or "column" in u + v),
    "torus:3x3,hosts=2": lambda u, v: at_routers(u, v, 2),
    "rdn:2,1": groups,
    "hp:5": digit_and_bits,
    "hypermesh:2,2,2": lambda u, v: of_factors(u, v, coordinate, bit, 2),
    "torus:2x3*ring:4": lambda u, v: of_factors(u, v, coordinate, lambda b, d: 0, 2),
    "complete:3*fattree:2,2": lambda u, v: of_factors(u, v, lambda a, c: 0, tree_level, 1),
}
"""Topology string -> function of the addresses of a link's ends."""


def kind_of(topology):
    """The function for a network; by coordinates where it has some and no function of its own."""
    if topology.name in KINDS:
        return KINDS[topology.name]
    if topology.name.startswith("hypercube:"):
        return bit
    return coordinate if topology.coordinates else lambda u, v: 0
