"""Products are compiled for a pair of families, never for their parameters."""

from serial.native.jobs import objects, printed

import mpinet


def test_one_rule_serves_all_parameters():
    ours, theirs = mpinet.open("ring:5*ring:7"), mpinet.open("ring:9*ring:4")
    for name in ("neighbor", "reverse_port", "channel"):
        assert getattr(ours, name).rule is getattr(theirs, name).rule
    for what in ("start", "decide"):
        assert getattr(ours.routing(), what) is getattr(theirs.routing(), what)
    schedules = [topology.schedules(0)["ring"]() for topology in (ours, theirs)]
    assert schedules[0].rule is schedules[1].rule


def test_the_second_product_of_two_families_compiles_nothing(tmp_path):
    program = """
import sys, mpinet, numpy as np

topology = mpinet.open(sys.argv[1])
assert topology.neighbor.rule.native.address
print(topology.neighbor(np.arange(topology.size)[:, None], np.arange(topology.ports)).sum())
"""
    printed("-c", program, "ring:5*ring:20", MPINET_CACHE=tmp_path)
    kept = objects(tmp_path)
    # Each processor is a neighbour of four.
    assert int(printed("-c", program, "ring:9*ring:40", MPINET_CACHE=tmp_path)) == 4 * 359 * 180
    assert kept == objects(tmp_path) != []


def test_different_products_are_different_rules():
    names = ["ring:5*ring:7", "ring:5*hypercube:3", "hypercube:3*ring:5", "ring:5*ring:7*ring:3"]
    prints = {mpinet.open(name).neighbor.rule.fingerprint for name in names}
    assert len(prints) == len(names)


def test_products_associate():
    from mpinet.networks.product import Product

    a, b, c = map(mpinet.open, ("ring:5", "mesh:2x3", "complete:4"))
    left, right = Product(Product(a, b), c), Product(a, Product(b, c))
    assert left.name == right.name
    for u in range(left.size):
        assert left.address(u) == right.address(u)
        for p in range(left.ports):
            assert left.neighbor(u, p) == right.neighbor(u, p)
            if left.neighbor(u, p) >= 0:
                assert left.reverse_port(u, p) == right.reverse_port(u, p)
                assert left.channel(u, p) == right.channel(u, p)
