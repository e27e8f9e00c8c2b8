"""Ranks on other processors: `--place` and `Create_cart(reorder=True)`."""

from itertools import pairwise

import networkx as nx
import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played

import mpinet
from mpinet.programs.messages.placing import along_grid, places_of

pytestmark = pytest.mark.mpi

RING = """
comm.Barrier()
left, right = (rank - 1) % size, (rank + 1) % size
got = comm.sendrecv(rank, dest=right, source=left)
assert got == left
say((MPI.Get_processor_name().rpartition("/")[2], comm.scan(rank), comm.bcast("x" * rank, 3)))
halves = comm.Split(rank % 2, rank)
inter = halves.Create_intercomm(0, comm, 1 - rank % 2)
assert inter.allgather(rank) == [*range(1 - rank % 2, size, 2)]
assert comm.gather(rank, 2) == ([*range(size)] if rank == 2 else None)
"""


@pytest.mark.parametrize("how", ["random", "cycle", "snake"])
def test_a_script_does_the_same_on_other_processors_and_its_ways_are_as_long_as_these_are_apart(
    tmp_path, how
):
    network = mpinet.open("torus:4x3")
    places = places_of(how, network, 12, seed=5).tolist()
    said, outcome = played(tmp_path, "torus:4x3", RING, places=places)
    for rank, processor in enumerate(places):
        expected = network.address(processor), rank * (rank + 1) // 2, "xxx"
        assert said[rank] == [expected]
    apart = dict(nx.all_pairs_shortest_path_length(network.to_networkx()))
    hops = sum(apart[one][other] for one, other in pairwise([*places, places[0]]))
    shifts = [account.hops for account in outcome.accounts if account.kind == "sendrecv"]
    assert shifts == [hops] * len(outcome.accounts[:1])  # other ranks than 0 have no accounts


@pytest.mark.parametrize(
    ("network", "sides", "torus"),
    [
        ("hypercube:5", (4, 8), True),
        ("hypercube:4", (2, 2, 1, 2), False),
        ("torus:3x4x5", (5, 3, 4), True),
        ("torus:3x4x5", (5, 12), False),
        ("mesh:3x4", (12,), False),
        ("torus:4x4", (16,), True),
        ("gmn:4,16", (16,), True),
    ],
)
def test_neighbours_of_a_grid_are_neighbours_of_the_network_where_it_fits(network, sides, torus):
    opened = mpinet.open(network)
    order = along_grid(opened, sides)
    grid = nx.grid_graph(sides[::-1], periodic=torus)  # networkx has the first dimension last
    number = {place: k for k, place in enumerate(sorted(grid))}
    assert len(set(order.tolist())) == len(number)
    assert all(
        opened.to_networkx().has_edge(order[number[one]], order[number[other]])
        for one, other in grid.edges
    )


def test_grids_that_do_not_fit_are_not_placed():
    assert along_grid(mpinet.open("torus:3x4"), (2, 6)) is None
    assert along_grid(mpinet.open("fattree:2,3"), (4, 2)) is None
    assert along_grid(mpinet.open("petersen"), (10,)) is None  # has no Hamiltonian cycle


def test_a_reordered_grid_is_the_networks_own_and_translates_ranks(tmp_path):
    script = """
    def shifts(reorder):
        cart = comm.Create_cart([4, 2, 2], [True] * 3, reorder)
        for direction in range(3):
            source, target = cart.Shift(direction, 1)
            assert cart.sendrecv(cart.rank, dest=target, source=source) == source
        world = MPI.Group.Translate_ranks(cart.group, range(size), comm.group)
        assert cart.allgather(rank) == world
        return world

    say(shifts(True))
    """
    said, outcome = played(tmp_path, "hypercube:4", script)
    (world,) = said[0]
    assert world != sorted(world) == [*range(16)]
    sent = [account for account in outcome.accounts if account.kind == "sendrecv"]
    assert all(account.hops == account.messages for account in sent)
    kept, _ = played(tmp_path, "hypercube:4", script.replace("shifts(True)", "shifts(False)"))
    assert kept[0] == [[*range(16)]]
    assert everyone(len(said))[0] == 16
