"""Settings that section 1 and 8 do not allow are refused with a sentence."""

from itertools import product

import pytest

import mpinet
from mpinet.errors import TopologyError
from mpinet.networks.catalogue import FAMILIES, family_class


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("lst:1", r"lst: m must be 2..2\^57, not 1"),
        ("lst:0", "lst: m must be"),
        ("lst:-3", "lst: m must be"),
        ("lst:2.0", "'2.0' is not a whole number; m is 2"),
        ("lst", "m is missing"),
        ("lst:2,3", "'3' is too much"),
        ("lst:144115188075855873", "lst: m must be"),
        ("tq:1", "tq: n must be 2..57, not 1"),
        ("tq:58", "tq: n must be 2..57, not 58"),
        ("cq:0", "cq: n must be 1..57, not 0"),
        ("hkv:4", "hkv: n must be odd, not 4"),
        ("hkv:0", "hkv: n must be 1..57, not 0"),
        ("hkv:-1", "hkv: n must be 1..57, not -1"),
        ("sth:1,3", "sth: m must be"),
        ("sth:2,1", "sth with kind tq: n must be 2..57, not 1"),
        ("sth:2,1,tq", "sth with kind tq: n must be"),
        ("sth:2,4,hkv", "sth with kind hkv: n must be odd, not 4"),
        ("sth:2,0,cq", "sth with kind cq: n must be 1"),
        ("sth:2,0,q", "sth with kind q: n must be 1"),
        ("sth:2,3,xq", "sth: kind must be tq, cq, hkv or q, not 'xq'"),
        ("sth:2", "n is missing"),
        ("sth:2,3,tq,4", "too much"),
        ("sth:100000000,50", "sth:100000000,50 would have"),
        ("dlh:1,2", r"dlh: m must be 2..2\^57, not 1"),
        ("dlh:2,-1", "dlh: n must be 0..56, not -1"),
        ("hexcell:0", "hexcell: d must be >= 1, not 0"),
        ("hexcell:-2", "hexcell: d must be"),
        ("hexcell:9999999999", "hexcell:9999999999 would have"),
        ("foldedcube:1", "foldedcube: n must be 2..57, not 1"),
        ("hhc:0", "hhc: k must be 1..5, not 0"),
        ("hhc:6", "hhc: k must be 1..5, not 6"),
        ("stargraph:1", "stargraph: n must be 2..15, not 1"),
        ("stargraph:16", "stargraph: n must be 2..15"),
        ("arrangement:1,1", "arrangement: n must be >= 2"),
        ("arrangement:4,0", "arrangement: k must be 1..3, not 0"),
        ("arrangement:4,4", "arrangement: k must be 1..3, not 4"),
        ("arrangement:100000,50000", "must be < 2\\^63"),
        ("petersen:3", "it takes no parameters"),
        ("hp:2", "hp: n must be 3..56, not 2"),
        ("fp:0", "fp: k must be 1..17, not 0"),
        ("fpq:-1,1", "fpq: n must be 0..53, not -1"),
        ("fpq:0,0", "fpq: k must be 1..17, not 0"),
        ("fpq:53,17", "fpq:53,17 would have"),
        ("starcube:1,3", "starcube: n must be 2..15"),
        ("starcube:3,0", "starcube: m must be 1..57"),
        ("arrstar:1,3,2", "arrstar: s must be 2..15"),
        ("arrstar:3,1,1", "arrstar: n must be >= 2"),
        ("arrstar:3,3,3", "arrstar: k must be 1..2, not 3"),
        ("hypermesh:0,3,2", "hypermesh: r must be >= 1"),
        ("hypermesh:3,0,2", "hypermesh: c must be >= 1"),
        ("hypermesh:1,1,2", "hypermesh: r\\*c must be >= 2"),
        ("hypermesh:2,2,0", "hypermesh: n must be 1..57"),
        ("bh:0,2,2", "bh: h must be 1..3, not 0"),
        ("bh:4,2,2", "bh: h must be 1..3, not 4"),
        ("bh:1,0,2", "bh: k must be"),
        ("bh:1,2,1", "bh: s must be"),
        ("bh:1,2,6", "bh: s must be a power of two, not 6"),
    ],
)
def test_wrong_settings_get_a_sentence(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(wrong)


INTEGERS = "lst tq cq hkv sth dlh hexcell foldedcube hhc stargraph arrangement hp fp fpq".split()
INTEGERS += "starcube arrstar hypermesh bh".split()


@pytest.mark.parametrize("family", INTEGERS)
def test_only_whole_numbers_are_taken(family):
    assert family in FAMILIES
    cls = family_class(family)
    example = mpinet.open(cls.example)
    given = [int(text) for text in example.name.partition(":")[2].split(",")]
    for place, value in product(range(len(given)), [True, 3.0, "3", None]):
        with pytest.raises(TopologyError, match="must be a whole number"):
            cls(*given[:place], value, *given[place + 1 :])


@pytest.mark.parametrize("kind", [None, 3, "", "TQ", ["tq"]])
def test_unknown_kinds_are_refused(kind):
    with pytest.raises(TopologyError, match="kind must be tq, cq, hkv or q"):
        family_class("sth")(3, 3, kind)


@pytest.mark.parametrize(
    ("loose", "canonical"),
    [
        ("sth:3,3,tq", "sth:3,3"),
        ("sth:n=3,m=2", "sth:2,3"),
        ("sth:2,3,kind=hkv", "sth:2,3,hkv"),
        ("petersen:", "petersen"),
    ],
)
def test_names_have_one_canonical_form(loose, canonical):
    assert mpinet.open(loose).name == canonical
    assert mpinet.open(canonical).name == canonical
