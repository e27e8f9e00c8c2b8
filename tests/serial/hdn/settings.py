"""The hierarchical dual-nets that the tests of this folder try."""

from serial.hdn.reference import Network


def ring(n):
    return ("C", n)


def full(n):
    return ("K", n)


def path(n):
    return ("P", n)


C235 = [ring(2), ring(3), ring(5)]

SMALL = {
    "hdn:7": Network([ring(7)]),
    "hdn:K5": Network([full(5)]),
    "hdn:P4": Network([path(4)]),
    "hdn:P2x3xK4": Network([path(2), ring(3), full(4)]),
    "hdn:2x4x6": Network([ring(2), ring(4), ring(6)]),
    "hdn:P3x5": Network([path(3), ring(5)]),
    "hdn:2,super=-": Network([ring(2)], [()]),
    "hdn:2,super=0": Network([ring(2)], [(0,)]),
    "hdn:5,super=-": Network([ring(5)], [()]),
    "hdn:6,super=-": Network([ring(6)], [()]),
    "hdn:K5,super=-": Network([full(5)], [()]),
    "hdn:8,super=0": Network([ring(8)], [(0,)]),
    "hdn:2x2,super=0": Network([ring(2)] * 2, [(0,)]),
    "hdn:2x2,super=1": Network([ring(2)] * 2, [(1,)]),
    "hdn:K3x4,super=0": Network([full(3), ring(4)], [(0,)]),
    "hdn:2x3x5,super=0.1": Network(C235, [(0, 1)]),
    "hdn:2x3x5,super=0.2": Network(C235, [(0, 2)]),
    "hdn:2x3x5,super=0.1.2": Network(C235, [(0, 1, 2)]),
    "hdn:2,super=-/-": Network([ring(2)], [(), ()]),
    "hdn:2,super=-/0": Network([ring(2)], [(), (0,)]),
    "hdn:2,super=0/-": Network([ring(2)], [(0,), ()]),
    "hdn:3,super=0/-": Network([ring(3)], [(0,), ()]),
    "hdn:4,super=0/0": Network([ring(4)], [(0,), (0,)]),
    "hdn:4,super=0/-": Network([ring(4)], [(0,), ()]),
    "hdn:2x2,super=0/1": Network([ring(2)] * 2, [(0,), (1,)]),
    "hdn:2x2,super=0/0.1": Network([ring(2)] * 2, [(0,), (0, 1)]),
    "hdn:2x2,super=0.1/0": Network([ring(2)] * 2, [(0, 1), (0,)]),
    "hdn:4x3,super=0.1/1": Network([ring(4), ring(3)], [(0, 1), (1,)]),
    "hdn:6xK3,super=0.1/0": Network([ring(6), full(3)], [(0, 1), (0,)]),
    "hdn:2,super=0/0/-": Network([ring(2)], [(0,), (0,), ()]),
}
"""Networks whose pairs can all be tried."""

LARGE = {
    "hdn:2,super=-/0/0": Network([ring(2)], [(), (0,), (0,)]),
    "hdn:2,super=0/-/0": Network([ring(2)], [(0,), (), (0,)]),
    "hdn:4xK3,super=0/1": Network([ring(4), full(3)], [(0,), (1,)]),
    "hdn:4x4,super=0/1": Network([ring(4)] * 2, [(0,), (1,)]),
    "hdn:2x3x5,super=0.1/1.2": Network(C235, [(0, 1), (1, 2)]),
    "hdn:2x3x5,super=0.2/1": Network(C235, [(0, 2), (1,)]),
    "hdn:2x3x5,super=-/-": Network(C235, [(), ()]),
    "hdn:2x2,super=0/1/0": Network([ring(2)] * 2, [(0,), (1,), (0,)]),
    "hdn:K4x6,super=0.1/0/1": Network([full(4), ring(6)], [(0, 1), (0,), (1,)]),
    "hdn:2,super=0/0/0/0": Network([ring(2)], [(0,), (0,), (0,), (0,)]),
    "hdn:3x4,super=0.1/0/0.1/1": Network([ring(3), ring(4)], [(0, 1), (0,), (0, 1), (1,)]),
}
"""Networks of which some pairs are tried."""

RDN = ["rdn:2,0", "rdn:2,1", "rdn:3,2", "rdn:K5,1", "rdn:2x2,1", "rdn:2x2,2", "rdn:2x3x5,1"]
RDN += ["rdn:K4x7,1", "rdn:2,4", "rdn:P3xK4,0", "rdn:2x3x5,2"]
CUBES = [f"dualcube:{n}" for n in (2, 3, 4, 5, 6, 7, 8, 12, 20, 29)]
