"""Topology strings and addresses of BSN and GBSN: what they name, what a wrong one is told."""

import pytest
from serial.gbsn.settings import WIRINGS

import mpinet
from mpinet.errors import NodeError, TopologyError, UsageError
from mpinet.networks.gbsn.general import GeneralizedBlockShift
from mpinet.networks.gbsn.regular import BlockShift


@pytest.mark.parametrize("text", WIRINGS)
def test_canonical_names_open_the_same_network(text):
    topology = mpinet.open(text)
    assert topology.name == text
    assert mpinet.open(topology.name).params.tolist() == topology.params.tolist()


@pytest.mark.parametrize(
    ("loose", "canonical"),
    [
        ("bsn:b=2,a=1,n=4", "bsn:1,2,4"),
        ("gbsn:1,4-4-4-2,1", "gbsn:1,m=4-4-4-2,a=1"),
        ("gbsn:m=4-4-4-2,a=1,b=1", "gbsn:1,m=4-4-4-2,a=1"),
        ("gbsn:1,m=4-4-4-2,a=1-1-1-1", "gbsn:1,m=4-4-4-2,a=1"),
        ("gbsn:1,m=4-4-4-2,a=2-1-2-1", "gbsn:1,m=4-4-4-2,a=2-1-2-1"),
        ("gbsn:1,m=4-2,a=1,completed=yes", "gbsn:1,m=4-2,a=1"),
        ("gbsn:1,4-2,1,no", "gbsn:1,m=4-2,a=1,completed=no"),
    ],
)
def test_arguments_go_by_order_or_by_key(loose, canonical):
    assert mpinet.open(loose).name == canonical


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("bsn:1,1,0", "bsn: n must be 1..61, not 0"),
        ("bsn:1,1,62", "bsn: n must be 1..61, not 62"),
        ("bsn:1,0,4", "bsn: b must be 1..4, not 0"),
        ("bsn:1,5,4", "bsn: b must be 1..4, not 5"),
        ("bsn:0,2,4", "bsn: a must be 1..2, not 0"),
        ("bsn:3,2,4", "bsn: a must be 1..2, not 3"),
        ("bsn:2,3,4", "bsn: a must divide b = 3; 2 does not"),
        ("bsn:1,2", "bsn: n is missing"),
        ("bsn:1,2,4,8", "'8' is too much"),
        ("bsn:1,2,4.0", "n: '4.0' is not a whole number"),
        ("bsn:40,40,60", "at most 2\\^63 - 1 ports"),
        ("gbsn:1,m=4-4-1,a=1", "gbsn: a block's size in m must be >= 2, not 1"),
        ("gbsn:1,m=4-0-4,a=1", "gbsn: a block's size in m must be >= 2, not 0"),
        ("gbsn:1,m=,a=1", "m: '' is not a whole number"),
        ("gbsn:1,m=4--4,a=1", "m: '' is not a whole number"),
        ("gbsn:0,m=4-4,a=1", "gbsn: b must be 1..2, not 0"),
        ("gbsn:3,m=4-4,a=1", "gbsn: b must be 1..2, not 3"),
        ("gbsn:2,m=4-4,a=0", "gbsn: a must be 1..2, not 0"),
        ("gbsn:2,m=4-4,a=3", "gbsn: a must be 1..2, not 3"),
        ("gbsn:2,m=4-4-2,a=2", "gbsn: a must be 1..1, not 2"),
        ("gbsn:2,m=4-4-2,a=2-2-2", "gbsn: a of block 2 must be 1..1, not 2"),
        ("gbsn:2,m=4-4-2,a=2-0-1", "gbsn: a of block 1 must be 1..2, not 0"),
        ("gbsn:2,m=4-4-2,a=1-1", "gbsn: a must be one number, or 3, one for each block, not 2"),
        ("gbsn:2,m=4-4-2", "gbsn: a is missing"),
        ("gbsn:1,m=4-4,a=one", "a: 'one' is not a whole number"),
        ("gbsn:1,m=4-4,a=1,completed=maybe", "completed: 'maybe' is neither yes nor no"),
        (f"gbsn:1,m={2**62}-2,a=1", "m needs addresses of 63 bits; at most 62"),
    ],
)
def test_wrong_strings_get_a_sentence(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence) as caught:
        mpinet.open(wrong)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: BlockShift(True, 2, 4), "a must be a whole number 1..2, not True"),
        (lambda: BlockShift(1, 2.0, 4), "b must be a whole number 1..4, not 2.0"),
        (lambda: BlockShift(1, 2, "4"), "n must be a whole number 1..61, not '4'"),
        (lambda: GeneralizedBlockShift(1.0, [4, 4], 1), "b must be a whole number 1..2, not 1.0"),
        (lambda: GeneralizedBlockShift(1, [], 1), "m must be the sizes of one or more blocks"),
        (lambda: GeneralizedBlockShift(1, 4, 1), "m must be the sizes of one or more blocks"),
        (lambda: GeneralizedBlockShift(1, "44", 1), "m must be the sizes of one or more blocks"),
        (lambda: GeneralizedBlockShift(1, [4, 2.0], 1), "in m must be a whole number >= 2"),
        (lambda: GeneralizedBlockShift(1, [4, True], 1), "in m must be a whole number >= 2"),
        (lambda: GeneralizedBlockShift(1, [4, 4], 1.0), "a must be a whole number 1..2, not 1.0"),
        (lambda: GeneralizedBlockShift(1, [4, 4], [1, None]), "a of block 1 must be a whole"),
        (lambda: GeneralizedBlockShift(1, [4, 4], [1]), "one for each block, not 1"),
        (lambda: GeneralizedBlockShift(1, [4, 4], 1, "no"), "completed must be True or False"),
    ],
)
def test_wrong_arguments_of_the_classes_get_a_sentence(made, sentence):
    with pytest.raises(TopologyError, match=sentence) as caught:
        made()
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("bsn:1,2,4", "5"),
        ("bsn:1,2,4", "00101"),
        ("bsn:1,2,4", "0102"),
        ("bsn:1,2,4", ""),
        ("bsn:1,2,4", "-001"),
        ("gbsn:1,m=4-4-4-2,a=1", "1110"),
        ("gbsn:1,m=4-4-2,a=1", "1100"),
        ("gbsn:1,m=4-4-4-2,a=1", "01"),
        ("gbsn:1,m=4-4-4-2,a=1", "-101"),
        ("gbsn:1,m=4-4-4-2,a=1", "3,1"),
        ("gbsn:1,m=4-4-4-2,a=1", "0b01"),
    ],
)
def test_wrong_addresses_are_refused_with_an_example(text, wrong):
    with pytest.raises(NodeError, match="addresses are"):
        mpinet.open(text).node(wrong)


def test_routings_are_named():
    assert list(mpinet.open("bsn:1,2,4").routings) == ["twsr", "gbsn"]
    assert list(mpinet.open("gbsn:1,m=4-2,a=1").routings) == ["gbsn", "twsr", "twsr-corrected"]
    assert list(mpinet.open("gbsn:1,m=4-2,a=1,completed=no").routings) == ["shortest", "twsr"]
    with pytest.raises(UsageError, match="it has: twsr, gbsn"):
        mpinet.open("bsn:1,2,4").routing("nonsense")
