"""Baselines do the workload that they are named for: against closed forms, NumPy and networkx."""

from importlib.util import find_spec

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.bench import kernels
from mpinet.bench.benchmark import Absent
from mpinet.bench.distances import kernel_sum
from mpinet.bench.libraries import (
    by_igraph,
    by_networkx,
    by_rustworkx,
    by_scipy,
    if_installed,
)
from mpinet.bench.objects import route_by_objects, route_by_simpy
from mpinet.bench.passes import OwnSort, sort_with_numpy
from mpinet.bench.permutation import headers_of, make_router, route_by_sorting, targets_of
from mpinet.bench.rules import next_uniform, parity_first, set_out, shift_in_digits, wander
from mpinet.bench.threads import run_bare
from mpinet.measure.wiring import edges
from mpinet.networks.routing import path, stateless
from mpinet.programs import ascend

N = 6
CUBE = mpinet.open(f"hypercube:{N}")
TARGETS = targets_of(CUBE, seed=3)
HAMMING = sum((u ^ t).bit_count() for u, t in enumerate(TARGETS.tolist()))


def swept(topology, sources, targets):
    """Hops and steps of both bare sweeps."""
    sources, targets = np.array(sources), np.array(targets)
    routing = topology.routing()
    rules = topology.neighbor.native, routing.decide.native, topology.params, routing.params
    counts, used = np.zeros((2, 2), np.int64), np.zeros(topology.size, np.uint32)
    nodes, numbers = sources.astype(np.uint32), targets.astype(np.uint32)
    kernels.sweep(*rules, nodes, numbers, used, counts[0])
    port, words = np.zeros(len(sources), np.uint8), targets[:, np.newaxis].copy()
    kernels.sweep_headers(*rules, sources, port, words, used, counts[1])
    return counts.tolist()


def test_everybody_needs_the_hops_of_the_shortest_paths():
    counts, used = np.zeros(2, np.int64), np.zeros(1 << N, np.uint32)
    kernels.fix_bits(np.arange(1 << N, dtype=np.uint32), TARGETS.astype(np.uint32), used, counts)
    assert counts[kernels.HOPS] == HAMMING
    first, second = swept(CUBE, np.arange(1 << N), TARGETS)
    assert first == second and first[kernels.HOPS] == HAMMING
    assert route_by_sorting(TARGETS) == HAMMING
    assert route_by_objects(N, TARGETS.tolist()) == HAMMING
    router, run = make_router(CUBE, CUBE.routing(), seed=3)
    run()
    assert router.machine.messages == HAMMING


def test_bare_threads_bring_every_object_to_its_receiver(capsys):
    text = """
right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
for k in range(3):
    comm.send([comm.rank, k], dest=right)
    comm.send({}, dest=right)
heard = [comm.recv(source=left) for k in range(6)]
assert heard == [thing for k in range(3) for thing in ([left, k], {})]
assert comm.sendrecv(comm.rank, dest=left, source=right) == right
print(comm.rank)
"""
    run_bare(compile(text, "text", "exec"), 5)
    assert sorted(capsys.readouterr().out.split()) == list("01234")


def test_simpy_needs_them_too_or_is_reported_missing():
    one = if_installed("simpy", lambda: route_by_simpy(N, TARGETS.tolist()))
    assert (one() == HAMMING) if find_spec("simpy") else isinstance(one, Absent)


def test_a_link_carries_one_message_a_step():
    """Three messages on one link of a path of three nodes; the sweep serves the first first."""
    counts, used = np.zeros(2, np.int64), np.zeros(1 << N, np.uint32)
    kernels.fix_bits(np.zeros(3, np.uint32), np.array([1, 3, 1], np.uint32), used, counts)
    assert counts.tolist() == [4, 3]  # two leave after waiting; the second's second hop fits in
    assert swept(mpinet.open("ring:5"), [0, 0, 0], [1, 2, 1]) == [[4, 3], [4, 3]]


@pytest.mark.parametrize("name", ["hdn:2x3,super=0.1", "gmn:96", "sth:3,3"])
def test_the_sweep_with_headers_takes_the_paths_of_the_network_s_routing(name):
    topology = mpinet.open(name)
    routing, targets = topology.routing(), targets_of(topology, seed=1)
    hops = sum(len(path(topology, routing, u, int(t))[1]) for u, t in enumerate(targets))
    rules = topology.neighbor.native, routing.decide.native, topology.params, routing.params
    counts, used = np.zeros(2, np.int64), np.zeros(topology.size, np.uint32)
    nodes, port = np.arange(topology.size), np.zeros(topology.size, np.uint8)
    words = headers_of(routing, targets)
    kernels.sweep_headers(*rules, nodes, port, words, used, counts)
    assert counts[kernels.HOPS] == hops


def test_shifts_lead_from_everywhere_to_everywhere_over_the_longest_overlap():
    topology = mpinet.open("debruijn:5")
    routing = stateless("shift", shift_in_digits, topology)
    for source in range(32):
        for target in range(32):
            words = f"{source:05b}", f"{target:05b}"
            overlap = next(k for k in range(5, -1, -1) if words[0].endswith(words[1][:k]))
            nodes, _ = path(topology, routing, source, target)
            assert len(nodes) - 1 == 5 - overlap


def test_a_wanderer_goes_on_to_any_other_node():
    cube = mpinet.open("hypercube:3")
    wandering = wander.bind("wander.test", onward=cube.routing().decide)
    header, visited = np.zeros(2, np.int64), np.zeros(8, int)
    set_out(5, 2, header, cube.params)
    assert header[0] == 2
    for _ in range(4000):
        at = int(header[0])
        port = wandering(at, header, cube.params)
        assert header[0] != at and 0 <= port < 3
        visited[int(header[0])] += 1
    assert visited.min() > 0.8 * 500 and visited.max() < 1.2 * 500
    assert 0 <= next_uniform(7) < 2**32


@pytest.mark.parametrize("steps", [1, 30])
def test_the_torus_kernel_moves_messages_towards_their_targets_and_never_doubles_a_link(steps):
    side, load = 5, 3
    size = side**2
    at = np.tile(np.arange(side) + 256 * np.arange(side)[:, None], (load, 1, 1)).astype(np.uint32)
    at = at.ravel()
    target = np.roll(at, 7)
    before = at.copy()
    counts, used = np.zeros(2, np.int64), np.zeros(size, np.uint32)
    kernels.saturate(at, target, np.arange(len(at)), used, side, 2, steps, counts)
    assert counts[kernels.STEPS] == steps
    assert 0 < counts[kernels.HOPS] <= 4 * size * steps
    assert ((at & 255) < side).all() and ((at >> 8) < side).all() and (at != target).all()
    if steps == 1:
        moved = np.flatnonzero(at != before)
        assert len(moved) == counts[kernels.HOPS]
        links = set()
        for u, v in zip(before[moved].tolist(), at[moved].tolist(), strict=True):
            apart = [((v >> s & 255) - (u >> s & 255)) % side for s in (0, 8)]
            assert sorted(apart) in ([0, 1], [0, side - 1])
            links.add((u, v))
        assert len(links) == len(moved)


def test_the_broadcast_kernel_informs_everybody_once():
    informed, told = np.zeros(32, np.uint8), np.zeros(32, np.uint8)
    informed[0] = 1
    assert kernels.inform(informed, told, 5) == 31
    assert informed.all()


def test_the_sorts_sort_and_the_transform_is_that_of_numpy():
    keys = np.random.default_rng(1).integers(0, 1000, 64)
    for sort in (kernels.sort_pairs, sort_with_numpy):
        state = keys.copy()
        sort(state, 6)
        assert (state == np.sort(keys)).all()
    x = np.random.default_rng(2).standard_normal(64) + 1j
    state, roots = x.copy(), np.exp(-2j * np.pi * np.arange(32) / 64)
    kernels.transform_pairs(state, roots, 6)
    reverse = [int(f"{k:06b}"[::-1], 2) for k in range(64)]
    assert np.allclose(state[reverse], np.fft.fft(x))


def test_a_user_s_sort_is_correct_on_the_machine():
    machine = mpinet.Machine(CUBE, "all")
    assert ascend.run(machine, OwnSort(), "descend").correct


LIBRARIES = {
    "networkx": by_networkx,
    "igraph": by_igraph,
    "rustworkx": by_rustworkx,
    "scipy": by_scipy,
}


def test_all_sum_the_same_distances():
    """In a hypercube of n dimensions the distances from a node add up to n 2^(n-1)."""
    everything = (1 << N) * N << (N - 1)
    graph = networkx.Graph(edges(CUBE).tolist())
    assert networkx.is_isomorphic(graph, networkx.hypercube_graph(N))
    assert kernel_sum(CUBE, CUBE.size)() == everything
    assert kernel_sum(CUBE, 5)() == 5 * N << (N - 1)
    for name, make in LIBRARIES.items():
        if find_spec(name) is None:
            one = if_installed(name, lambda: 0.0)
            assert isinstance(one, Absent) and name in one.reason
        else:
            assert make(CUBE.size, edges(CUBE), CUBE.size)() == everything


def test_the_kernel_floods_from_several_groups_of_sources():
    cube = mpinet.open("hypercube:10")
    assert kernel_sum(cube, 1024)() == (1024 * 10) << 9


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_parity_mapping_puts_neighbours_on_different_halves(n):
    cube = mpinet.open(f"hypercube:{n}")
    params = np.array([cube.size, 2])
    positions = [parity_first(u, 0, params) for u in range(cube.size)]
    assert sorted(positions) == list(range(cube.size))
    assert [parity_first(p, 1, params) for p in positions] == list(range(cube.size))
    half = cube.size // 2
    for u in range(cube.size):
        for port in range(n):
            other = cube.neighbor(u, port)
            assert (positions[u] < half) != (positions[other] < half)
