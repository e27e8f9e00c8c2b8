"""Settings that docs/papers/hdn, 1, rejects are refused with a sentence."""

import pytest

import mpinet
from mpinet.errors import TopologyError
from mpinet.networks.hdn.wiring import DualCube, HierarchicalDualNet, RecursiveDualNet

RINGS = [("C", 2), ("C", 3), ("C", 5)]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("hdn", "hdn: BASE is missing; its parameters are BASE"),
        ("hdn:", "BASE is missing"),
        ("hdn:2x", "hdn: BASE: '' is not a factor such as C5, K4 or P3; BASE is factors Cn"),
        ("hdn:2.5", "'2.5' is not a factor"),
        ("hdn:CC3", "'CC3' is not a factor"),
        ("hdn:Q5", r"hdn: a factor of BASE must be of kind C \(ring\), K .* not 'Q'"),
        ("hdn:c5", "kind C .* not 'c'"),
        ("hdn:1x3", "hdn: the size of a factor C of BASE must be >= 2, not 1"),
        ("hdn:K1", "size of a factor K of BASE must be >= 2, not 1"),
        ("hdn:P-3", "size of a factor P of BASE must be >= 2, not -3"),
        ("hdn:P3x2,super=-", "BASE must be symmetric to have levels.*P3x2 cannot have super-nodes"),
        ("rdn:P3,1", "rdn: BASE must be symmetric"),
        ("hdn:2x3,super=2", "hdn: a factor index in super at level 1 must be 0..1, not 2"),
        ("hdn:2x3,super=-/-1", "a factor index in super at level 2 must be 0..1, not -1"),
        ("hdn:2x3,super=0.0", "super at level 1 must not be repeated, as in 0.0"),
        ("hdn:2x3,super=", "hdn: super: '' is not a whole number; super is per level"),
        ("hdn:2x3,super=0/x", "'x' is not a whole number"),
        ("hdn:2x3x5,sizes=7", "sizes must be products of factors of 2x3x5, not 7"),
        ("hdn:2x3x5,sizes=4", "of 2x3x5, not 4"),
        ("hdn:2x3x5,sizes=0", "a super-node's size in sizes must be >= 1, not 0"),
        ("hdn:2x3x5,sizes=six", "hdn: sizes: 'six' is not a whole number; sizes is per level"),
        ("hdn:2x2,sizes=2", "size 2 in sizes fits several super-nodes of 2x2: 0 1; choose one"),
        ("hdn:2x3x6,sizes=6", "fits several super-nodes of 2x3x6: 0.1 2; choose"),
        (
            "hdn:" + "x".join("2" * 40) + ",sizes=1024",
            r"fits several .* \.\.; choose one with super",
        ),
        ("hdn:2x3,super=0,sizes=2", "hdn: give super or sizes, not both"),
        ("hdn:2x3,0,2,5", "'5' is too much"),
        ("hdn:2x3,levels=2", "unknown parameter 'levels'"),
        ("rdn:K2000000000,1", "at most 2\\^63 - 1 ports can be numbered"),
        ("hdn:2x3x5,super=-/-/-/-", "level 4 of 4 would have more than 2\\^63 - 1 processors"),
        ("hdn:9999999999x9999999999", "at most 2\\^63 - 1 can be numbered"),
        ("rdn:2x3", "rdn: k is missing"),
        ("rdn:2x3,-1", "rdn: k must be 0..4, not -1"),
        ("rdn:2x3,5", "rdn: k must be 0..4, not 5"),
        ("rdn:2x3x5,4", "rdn: level 4 of 4 would have more than 2\\^63 - 1"),
        ("rdn:2x3,one", "rdn: k: 'one' is not a whole number"),
        ("dualcube:1", "dualcube: n must be 2..29, not 1"),
        ("dualcube:30", "dualcube: n must be 2..29, not 30"),
        ("dualcube:2.0", "dualcube: n: '2.0' is not a whole number"),
    ],
)
def test_wrong_strings_are_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(wrong)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: HierarchicalDualNet([]), "BASE must be factors"),
        (lambda: HierarchicalDualNet("2x3"), "BASE must be factors"),
        (lambda: HierarchicalDualNet(5), "BASE must be factors"),
        (lambda: HierarchicalDualNet([5]), "must be a pair of kind and size, not 5"),
        (lambda: HierarchicalDualNet([("C", True)]), "whole number >= 2, not True"),
        (lambda: HierarchicalDualNet([("C", 3.0)]), "whole number >= 2, not 3.0"),
        (lambda: HierarchicalDualNet([("C", "3")]), "whole number >= 2, not '3'"),
        (lambda: HierarchicalDualNet([(["C"], 3)]), "must be of kind C"),
        (lambda: HierarchicalDualNet(RINGS, super=2), "super must be per level"),
        (lambda: HierarchicalDualNet(RINGS, super=[0]), "super must be per level"),
        (lambda: HierarchicalDualNet(RINGS, super=["0"]), "super must be per level"),
        (lambda: HierarchicalDualNet(RINGS, super=[(False,)]), "whole number 0..2, not False"),
        (lambda: HierarchicalDualNet(RINGS, super=[(1.0,)]), "whole number 0..2, not 1.0"),
        (lambda: HierarchicalDualNet(RINGS, sizes=6), "sizes must be per level"),
        (lambda: HierarchicalDualNet(RINGS, sizes=[6.0]), "whole number >= 1, not 6.0"),
        (lambda: HierarchicalDualNet(RINGS, sizes=[True]), "whole number >= 1, not True"),
        (lambda: RecursiveDualNet(RINGS, True), "rdn: k must be a whole number 0..4, not True"),
        (lambda: RecursiveDualNet(RINGS, 1.0), "rdn: k must be a whole number 0..4, not 1.0"),
        (lambda: RecursiveDualNet([], 1), "rdn: BASE must be factors"),
        (lambda: DualCube(False), "dualcube: n must be a whole number 2..29, not False"),
        (lambda: DualCube(2.0), "dualcube: n must be a whole number 2..29, not 2.0"),
    ],
)
def test_wrong_values_are_refused_with_a_sentence(make, sentence):
    with pytest.raises(TopologyError, match=sentence):
        make()
