"""Edge lists of numbers read as arrays, and large ones held once per host."""

import multiprocessing
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest

import mpinet
from mpinet.base import onecopy
from mpinet.errors import MpinetError
from mpinet.networks import graphfile
from mpinet.networks.graphfiles import edgelist
from mpinet.networks.graphfiles.numbered import read_numbers


def told(path):
    """All that a network says of itself; the sentence, without its node, where it is refused."""
    try:
        network = mpinet.open(f"graph:{path}")
    except MpinetError as error:
        return str(error).partition("node ")[0]
    addresses = [network.address(u) for u in network]
    assert [network.node(address) for address in addresses] == [*network]
    params = network.params.tolist()
    return network.name, network.hosts, params, addresses, network.link_classes


def lines_of(draw):
    """Lines of a small list of links, now and then with loops, comments and parallel links."""
    nodes = draw.sample(range(draw.choice([9, 60])), draw.randint(2, 9))
    for _ in range(draw.randint(1, 30)):
        u, v = draw.choice(nodes), draw.choice(nodes)
        if u != v or draw.random() < 0.05:
            yield draw.choice(["{} {}", "{},{}", "  {}\t{}  ", "{} {} # 5 6"]).format(u, v)
        if draw.random() < 0.1:
            yield draw.choice(["", "# 5 6", "#", " , "])


def test_lists_of_numbers_are_the_networks_that_networkx_reads(tmp_path, monkeypatch):
    draw, path = random.Random(3), tmp_path / "links.edges"
    for _ in range(60):
        end = draw.choice(["\n", "\r\n"])
        path.write_text(end.join(lines_of(draw)) + draw.choice(["", end]), newline="")
        with monkeypatch.context() as patch:
            patch.setattr(edgelist, "read_numbers", lambda data: None)
            expected = told(path)
        assert told(path) == expected


ELSE = (
    *(b"0 1\n01 2", b"0 1 2", b"0 1\n0", b"-1 2", b"1 2 capacity=3", b"1 2 #\xff", b"1 2 #\x0b3 4"),
    *(b"", b"#", b"1\x0b2", b"a b", b"1" + 18 * b"0" + b" 1", "1 \u0662".encode()),
)


@pytest.mark.parametrize("data", ELSE)
def test_whatever_else_a_list_says_is_left_to_networkx(data):
    assert read_numbers(data) is None
    assert read_numbers(b"0 1\n").tolist() == [[0, 1]]


@pytest.fixture
def ring(tmp_path, monkeypatch):
    """A file that counts as large, and the folder of what is shared."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("MPINET_CACHE", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(graphfile, "LARGE", 0)
    tmp_path.chmod(0o700)
    path = tmp_path / "ring.edges"
    write_ring(path, 50)
    return path, tmp_path / "cache/mpinet/networks"


def write_ring(path, size):
    path.write_text("".join(f"{3 * u} {3 * ((u + 1) % size)}\n" for u in range(size)))


def test_what_is_read_of_a_large_list_is_shared(ring, monkeypatch):
    path, folder = ring
    first = told(path)
    (kept,) = folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0  # what is read may be secret
    with monkeypatch.context() as patch:
        patch.setattr(graphfile, "read_graph", None)  # nobody reads it again
        assert told(path) == first
        network = mpinet.open(f"graph:{path}")
    assert network.address(7) == "21" and network.node("21") == 7 and "91" not in network
    assert any(str(kept) in line for line in Path("/proc/self/maps").read_text().splitlines())
    network.params[2] = 99  # in a page of one's own
    assert told(path) == first
    monkeypatch.setattr(graphfile, "LARGE", 10**9)
    assert told(path) == first


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty"])
def test_a_damaged_copy_is_made_again(ring, damage):
    path, folder = ring
    first = told(path)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    if damage == "cut":
        kept.write_bytes(whole[: len(whole) // 2])
    elif damage == "changed":
        kept.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    elif damage == "other":
        kept.write_bytes(np.zeros(30).tobytes())
    else:
        kept.write_bytes(b"")
    assert told(path) == first
    assert kept.read_bytes() == whole


def test_no_changed_byte_of_a_copy_goes_unnoticed(tmp_path):
    path = tmp_path / "kept.ints"
    assert onecopy._written(path, np.arange(5))
    whole = path.read_bytes()
    for at, byte in enumerate(whole):
        path.write_bytes(whole[:at] + bytes([byte ^ 1]) + whole[at + 1 :])
        assert onecopy._mapped(path) is None
    path.write_bytes(whole)
    assert np.array_equal(onecopy._mapped(path), np.arange(5))


def test_another_list_under_the_same_name_is_read(ring):
    path, folder = ring
    sizes = range(3, 3 + onecopy.FILES + 2)
    for size in sizes:
        write_ring(path, size)
        assert mpinet.open(f"graph:{path}").size == size
    assert len([*folder.iterdir()]) == onecopy.FILES
    path.write_text("0 1\n2 3\n")
    assert "2 components" in told(path)
    path.write_text("a b\n")
    assert told(path)[1] == 2


def test_without_a_folder_of_ones_own_each_process_reads(ring):
    path, folder = ring
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert len(told(path)[3]) == 50 and not [*folder.iterdir()]


def test_a_full_disk_is_no_reason_to_fail(ring, monkeypatch):
    path, folder = ring

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert len(told(path)[3]) == 50 and not [*folder.iterdir()]


def wired(path, results):
    """Open the network in a process of its own; tell the pages that nobody else has."""
    network = mpinet.open(f"graph:{path}")
    total = int(network.params.sum())
    maps = Path("/proc/self/smaps").read_text()
    of_file = re.search(r"\.ints\n(?:.*\n)*?Private_Dirty: +([0-9]+) kB", maps)
    results.put((total, int(of_file[1])))


def test_processes_share_the_pages(ring):
    path, _ = ring
    write_ring(path, 40_000)
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    readers = [fork.Process(target=wired, args=(path, results)) for _ in range(3)]
    for each in readers:
        each.start()
    found = [results.get(timeout=60) for _ in readers]
    for each in readers:
        each.join()
    assert found == [(found[0][0], 0)] * 3
