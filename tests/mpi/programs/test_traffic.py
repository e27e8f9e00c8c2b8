"""Traffic patterns are what their names say, whoever draws them."""

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.machine.outcome import together

import mpinet
from mpinet.draws import permuted
from mpinet.errors import NodeError, UsageError
from mpinet.machine.placement import scattered
from mpinet.programs.traffic import traffic


def pairs_of(pattern, network, seed=0):
    """All messages (source, target) in the order of their numbers."""
    made = traffic(mpinet.open(network), pattern, seed)
    sources, targets = made.ends(np.arange(made.total))
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def test_all_pairs_of_different_hosts_in_order():
    expected = [(u, v) for u in range(8) for v in range(8) if u != v]
    assert pairs_of("all", "fattree:2,3") == expected
    assert pairs_of("all", "complete:1") == []


@pytest.mark.parametrize("network", ["ring:3", "ring:97", "fattree:4,2", "hypercube:8"])
def test_permutation_is_a_bijection_of_the_hosts(network):
    hosts = mpinet.open(network).hosts
    for pattern in ("permutation", "randperm"):
        sources, targets = zip(*pairs_of(pattern, network, seed=5), strict=True)
        assert list(sources) == sorted(targets) == list(range(hosts))


def test_a_uniform_permutation_is_refused_where_not_every_rank_can_have_it():
    with pytest.raises(UsageError, match=r"at most 16,777,216 processors, and ring:16777217 has"):
        traffic(mpinet.open("ring:16777217"), "randperm")


@pytest.mark.parametrize("seed", [0, 1, 11])
def test_the_random_mapping_of_a_seed_is_not_its_permutation(seed):
    params = scattered(mpinet.open("ring:97"), seed).params
    mapped = [permuted(node, 0, params) for node in range(97)]
    assert sorted(mapped) == list(range(97))
    assert mapped != [target for _, target in pairs_of("permutation", "ring:97", seed)]


def test_seeds_change_what_is_drawn():
    for pattern in ("permutation", "randperm", "random:50"):
        drawn = [pairs_of(pattern, "hypercube:8", seed) for seed in (0, 1, 0)]
        assert drawn[0] == drawn[2] != drawn[1]


def test_random_messages_have_ends_among_the_hosts_evenly():
    pairs = np.array(pairs_of("random:4000", "fattree:2,3"))
    assert pairs.shape == (4000, 2)
    counts = np.bincount(pairs[:, 0] * 8 + pairs[:, 1], minlength=64)
    assert len(counts) == 64
    assert ((counts - 62.5) ** 2 / 62.5).sum() < 63 + 6 * 126**0.5  # chi-square, six deviations


def test_bit_patterns_move_the_bits_of_the_number():
    words = [f"{u:04b}" for u in range(16)]
    moved = {
        "transpose": [word[2:] + word[:2] for word in words],
        "bitreversal": [word[::-1] for word in words],
        "complement": [word.translate({48: "1", 49: "0"}) for word in words],
    }
    for pattern, targets in moved.items():
        expected = [(u, int(target, 2)) for u, target in enumerate(targets)]
        assert pairs_of(pattern, "torus:4x4") == expected


def test_everybody_else_sends_to_the_hotspot():
    assert pairs_of("hotspot:3", "ring:6") == [(u, 3) for u in (0, 1, 2, 4, 5)]
    assert pairs_of("hotspot:1,0", "torus:2x3") == pairs_of("hotspot:3", "torus:2x3")


def test_pairs_take_the_patterns_of_generated_messages():
    fives = [(x, y) for x in range(5) for y in range(4)]
    moved = [(x + 2) % 5 * 4 + (y + 1) % 4 for x, y in fives]  # just below half of each side
    assert pairs_of("tornado", "torus:5x4") == list(enumerate(moved))
    moved = [(x + 1) % 5 * 4 + (y + 1) % 4 for x, y in fives]
    assert pairs_of("neighbour", "torus:5x4") == list(enumerate(moved))
    rotated = [int(f"{u:04b}"[1:] + f"{u:04b}"[0], 2) for u in range(16)]
    assert pairs_of("shuffle", "hypercube:4") == list(enumerate(rotated))
    assert pairs_of("alltoall", "ring:5") == pairs_of("all", "ring:5")
    among = pairs_of("groups:neighbour@4+uniform", "ring:12", seed=7)
    assert all(target // 4 == (source // 4 + 1) % 3 for source, target in among)
    ways = {(target - source) % 12 for source, target in pairs_of("diagonal", "ring:12", seed=1)}
    assert ways == {0, 1}


@pytest.mark.parametrize("at_once", [7, 1 << 18])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(
    "pattern", ["all", "permutation", "randperm", "random:40", "hotspot:2", "transpose", "uniform"]
)
@pytest.mark.parametrize("network", ["hypercube:4", "fattree:4,2", "hypercube:2"])
def test_every_message_is_sent_by_the_rank_that_hosts_its_source(
    network, pattern, mapping, at_once, monkeypatch
):
    monkeypatch.setattr("mpinet.programs.traffic.DRAWN_AT_ONCE", at_once)
    topology = mpinet.open(network)
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    made = traffic(topology, pattern, seed=9)
    numbers = made.sent_by(machine)
    sources, _ = made.ends(numbers)
    assert set(sources.tolist()) <= set(machine.nodes.tolist())
    assert (np.diff(numbers) > 0).all()
    assert together(everyone, numbers.tolist()) == list(range(made.total))


@pytest.mark.parametrize(
    ("pattern", "network", "sentence"),
    [
        ("everywhere", "ring:4", "no traffic pattern 'everywhere': give all"),
        ("random:", "ring:4", "no traffic pattern"),
        ("random:0", "ring:4", "whole number >= 1"),
        ("random:many", "ring:4", "whole number >= 1"),
        ("random:-3", "ring:4", "whole number >= 1"),
        ("complement", "ring:6", "needs 2.n processors, and ring:6 has 6"),
        ("bitreversal", "ring:6", "needs 2.n processors"),
        ("transpose", "hypercube:3", "needs 4.t processors"),
        ("hotspot:16", "fattree:4,2", "node 16 .* is a switch; processors are 0..15"),
        ("nothere.csv", "ring:4", "Cannot read nothere.csv: No such file"),
    ],
)
def test_a_wrong_pattern_gets_a_sentence(pattern, network, sentence):
    with pytest.raises(UsageError, match=sentence):
        traffic(mpinet.open(network), pattern)


def test_a_hotspot_is_a_node_of_the_network():
    with pytest.raises(NodeError, match=r"nodes are 0\.\.3"):
        traffic(mpinet.open("ring:4"), "hotspot:4")


def written(folder, text):
    """A CSV file; every rank has its own folder."""
    file = folder / "pairs.csv"
    file.write_bytes(text.encode("latin-1"))
    return str(file)


@pytest.mark.parametrize(
    "text",
    [
        "0,5\n3,3\n7,1\n",
        "source,target\n0,5\n3,3\n7,1",
        "# from a program\nsource, target\r\n0,5\r\n\r\n 3 , 3\n7,1\n",
        '"0","5"\n"3","3"\n# again\n"7","1"\n',
    ],
)
def test_files_list_messages(text, tmp_path):
    assert pairs_of(written(tmp_path, text), "hypercube:3") == [(0, 5), (3, 3), (7, 1)]


def test_files_may_name_processors_by_their_addresses(tmp_path):
    file = written(tmp_path, '"0,1","1,1"\n2,"1,0"\n')
    assert pairs_of(file, "torus:2x2") == [(1, 3), (2, 2)]


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("0,1\n2\n", UsageError, "'2' is not a line 'source,target'"),
        ("0,1,2\n", UsageError, "'0,1,2' is not a line"),
        ("0,9\n", NodeError, "Node 9 is not in hypercube:3"),
        ("0,x\n", NodeError, "'x' is not an address"),
        ("0,\xff\n", UsageError, "is not a CSV file"),
    ],
)
def test_a_wrong_file_gets_a_sentence(text, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence):
        pairs_of(written(tmp_path, text), "hypercube:3")
