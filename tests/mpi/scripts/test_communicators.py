"""Communicators of scripts: who is in them, and that their messages do not mix."""

import itertools

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone
from mpi.scripts.playing import played

import mpinet
from mpinet.errors import Deadlock, ProgramError
from mpinet.mpi.module import stand_in
from mpinet.mpi.real import REAL
from mpinet.mpi.world import trees
from mpinet.mpi.world.world import World

NETWORKS = ["hypercube:3", "torus:3x3", "ring:7"]


def size_of(network):
    return mpinet.open(network).hosts


# ---- splitting


def split(colors, keys):
    """Members of each color, by key and rank: MPI's rule in plain Python."""
    order = sorted(range(len(colors)), key=lambda rank: (keys[rank], rank))
    return {color: [rank for rank in order if colors[rank] == color] for color in set(colors)}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_split_orders_the_members_of_a_color_by_key_and_rank(tmp_path, network, mapping):
    size = size_of(network)
    generator = np.random.default_rng(size)
    colors = generator.integers(0, 3, size).tolist()
    keys = generator.integers(-2, 2, size).tolist()
    script = f"""
    part = comm.Split({colors}[rank], {keys}[rank])
    say((part.rank, part.size, part.allgather(rank)))
    """
    said, _ = played(tmp_path, network, script, mapping=mapping)
    parts = split(colors, keys)
    for rank in range(size):
        members = parts[colors[rank]]
        assert said[rank] == [(members.index(rank), len(members), members)]


def test_who_gives_no_color_gets_the_null_communicator(tmp_path):
    script = """
    part = comm.Split(MPI.UNDEFINED if rank == 2 else 7)
    say((part == MPI.COMM_NULL, bool(part), part.allgather(rank) if part else None))
    """
    said, _ = played(tmp_path, "hypercube:2", script)
    assert said[2][0][:2] == (True, False)
    assert all(said[rank] == [(False, True, [0, 1, 3])] for rank in (0, 1, 3))


def test_communicators_of_communicators_halve_down_to_single_processors(tmp_path):
    script = """
    part, path = comm, []
    while part.size > 1:
        part = part.Split(part.rank % 2, -part.rank)
        path.append(part.allgather(rank))
    say(path)
    """
    said, _ = played(tmp_path, "hypercube:4", script)

    def path(rank):
        members, found = list(range(16)), []
        while len(members) > 1:
            place = members.index(rank)
            members = members[place % 2 :: 2][::-1]
            found.append(members)
        return found

    assert all(said[rank] == [path(rank)] for rank in range(16))


def test_messages_of_different_communicators_do_not_mix(tmp_path):
    script = """
    other = comm.Dup()
    half = comm.Split(rank // 4)
    if rank == 0:
        for number, one in enumerate((comm, other, half)):
            one.send(number, 1, tag=5)
    if rank == 1:
        heard = [one.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG) for one in (half, comm, other)]
        say(heard)
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert said[1] == [[2, 0, 1]]


@pytest.mark.parametrize("network", NETWORKS)
def test_making_communicators_costs_the_same_steps_on_any_mapping(tmp_path, network):
    script = """
    for turn in range(3):
        part = comm.Split(rank % 3, rank)
        part.Dup().Free()
        part.Free()
    """
    costs = set()
    for mapping in MAPPINGS:
        _, outcome = played(tmp_path, network, script, mapping=mapping)
        booked = everyone(outcome.accounts)[0]
        messages = [
            sum(one.messages for one in booked if one.kind == kind) for kind in ("Split", "Dup")
        ]
        hops = sum(one.hops for one in booked)
        costs.add((outcome.steps, outcome.hops, hops, *messages))
    size = size_of(network)
    [(steps, hops, booked, split, duplicated)] = costs
    assert steps > 0 and booked == hops >= split + duplicated
    parts = [len(range(first, size, 3)) for first in range(3)]
    assert split == 3 * 2 * (size - 1)
    assert duplicated == 3 * sum(part - 1 for part in parts)


def test_all_processors_of_a_host_share_memory_in_the_order_of_their_keys(tmp_path):
    script = """
    part = comm.Split_type(MPI.COMM_TYPE_SHARED, key=-rank)
    window = MPI.Win.Allocate_shared(8, 8, comm=part)
    window.Fence()
    memory, _ = window.Shared_query((part.rank + 1) % part.size)
    np.frombuffer(memory, "l")[0] = rank
    window.Fence()
    say((part.allgather(rank), int(np.frombuffer(window.tomemory(), "l")[0])))
    window.Free()
    say(comm.Split_type(MPI.COMM_TYPE_HW_UNGUIDED) == MPI.COMM_NULL)
    """
    said, _ = played(tmp_path, "torus:3x3", script)
    assert said == {rank: [([*range(8, -1, -1)], (rank + 1) % 9), True] for rank in range(9)}


def test_a_group_alone_makes_a_communicator_while_others_do_something_else(tmp_path):
    script = """
    chosen = comm.group.Incl([6, 2, 4])
    if rank in (6, 2, 4):
        one = comm.Create_group(chosen, tag=3)
        two = MPI.Intracomm.Create_from_group(chosen, "mine")
        say((one.allgather(rank), two.allgather(10 * rank)))
    both = comm.Create(chosen)
    say(both.allgather(-rank) if both else None)
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    for rank in range(8):
        if rank in (6, 2, 4):
            assert said[rank] == [([6, 2, 4], [60, 20, 40]), [-6, -2, -4]]
        else:
            assert said[rank] == [None]


# ---- groups


def test_operations_on_groups_are_those_on_lists(tmp_path):
    generator = np.random.default_rng(3)
    pairs = [
        [generator.permutation(9)[: generator.integers(0, 9)].tolist() for _ in range(2)]
        for _ in range(12)
    ]
    script = f"""
    world, Group = comm.group, MPI.Group
    for one, other in {pairs}:
        a, b = world.Incl(one), world.Incl(other)
        results = [Group.Union(a, b), Group.Intersection(a, b), Group.Difference(a, b)]
        results += [world.Excl(one), world.Range_incl([(8.0, 2.9, -3), (0, 1, 1)])]
        say([group.Translate_ranks(group=world) for group in results])
        say((a.rank, a.Translate_ranks(None, b), a.Compare(b), a.Compare(world.Incl(one[::-1]))))
    """
    said, _ = played(tmp_path, "torus:3x3", script)
    for rank in range(9):
        for (one, other), sets, ranks in zip(pairs, said[rank][::2], said[rank][1::2], strict=True):
            assert sets == [
                one + [i for i in other if i not in one],
                [i for i in one if i in other],
                [i for i in one if i not in other],
                [i for i in range(9) if i not in one],
                [8, 5, 2, 0, 1],
            ]
            place = {member: number for number, member in enumerate(other)}
            alike = REAL.SIMILAR if set(one) == set(other) else REAL.UNEQUAL
            assert ranks == (
                one.index(rank) if rank in one else REAL.UNDEFINED,
                [place.get(member, REAL.UNDEFINED) for member in one],
                REAL.IDENT if one == other else alike,
                REAL.IDENT if len(one) < 2 else REAL.SIMILAR,
            )


# ---- grids and graphs


@pytest.mark.parametrize(("network", "dims"), [("hypercube:3", (4, 2)), ("torus:3x3", (3, 3))])
@pytest.mark.parametrize("ring", [True, False])
def test_shifts_on_a_grid_are_rolls_of_an_array(tmp_path, network, dims, ring):
    script = f"""
    grid = comm.Create_cart({dims}, periods={ring})
    for direction in range({len(dims)}):
        for distance in (-2, -1, 1, 3):
            source, target = grid.Shift(direction, distance)
            say(grid.sendrecv(rank, target, source=source))
    say((grid.coords, grid.Get_cart_rank(grid.coords)))
    """
    said, _ = played(tmp_path, network, script)
    ranks = np.arange(size_of(network)).reshape(dims)
    shifts = itertools.product(range(len(dims)), (-2, -1, 1, 3))
    expected = {rank: [] for rank in ranks.flat}
    for direction, distance in shifts:
        rolled = np.roll(ranks, distance, direction)
        places = np.arange(dims[direction]) - distance
        inside = (places >= 0) & (places < dims[direction]) | ring
        shape = [-1 if axis == direction else 1 for axis in range(len(dims))]
        inside = np.broadcast_to(inside.reshape(shape), dims)
        for rank, source, known in zip(ranks.flat, rolled.flat, inside.flat, strict=True):
            expected[rank].append(int(source) if known else None)
    for rank in ranks.flat:
        coords = [int(one) for one in np.unravel_index(rank, dims)]
        assert said[rank] == [*expected[rank], (coords, rank)]


def test_the_lines_of_a_grid_are_its_sections(tmp_path):
    script = """
    grid = comm.Create_cart([2, 3, 2])
    for remain in ([0, 1, 0], [1, 0, 1], [0, 0, 0]):
        part = grid.Sub(remain)
        say((part.allgather(rank), part.dims, part.coords))
    say(comm.Create_cart([5]) != MPI.COMM_NULL)
    """
    said, _ = played(tmp_path, "torus:4x3", script)
    ranks = np.arange(12).reshape(2, 3, 2)
    for rank in range(12):
        x, y, z = (int(one) for one in np.unravel_index(rank, (2, 3, 2)))
        assert said[rank] == [
            (ranks[x, :, z].tolist(), [3], [y]),
            (ranks[:, y, :].ravel().tolist(), [2, 2], [x, z]),
            ([rank], [], []),
            rank < 5,
        ]


@pytest.mark.parametrize("dims", [(8,), (2, 4), (2, 2, 2), (1, 8)])
def test_neighbors_on_a_grid_get_what_is_sent_their_way(tmp_path, dims):
    """Also where the neighbors below and above are the same one, or the member itself."""
    script = f"""
    grid = comm.Create_cart({dims}, periods=True)
    ways = 2 * len({dims})
    say(grid.neighbor_alltoall([(rank, way) for way in range(ways)]))
    sent, got = np.arange(2.0 * ways) + 100 * rank, np.empty(2 * ways)
    grid.Neighbor_alltoall(sent, got)
    say(got.tolist())
    got[:] = -1
    grid.Ineighbor_allgather(sent[:2], got).Wait()
    say(got[::2].tolist())
    again = grid.Neighbor_alltoall_init(sent, got)
    for turn in range(2):
        again.Start()
        again.Wait()
        sent += 1
    say(got.tolist())
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    ranks = np.arange(8).reshape(dims)
    for rank in range(8):
        place = np.argwhere(ranks == rank)[0]
        pairs = []
        for axis, extent in enumerate(dims):
            for step, theirs in ((-1, 2 * axis + 1), (1, 2 * axis)):
                there = place.copy()
                there[axis] = (there[axis] + step) % extent
                pairs.append((int(ranks[tuple(there)]), theirs))
        values = [100.0 * source + 2 * way + i for source, way in pairs for i in range(2)]
        assert said[rank] == [
            pairs,
            values,
            [100.0 * source for source, _ in pairs],
            [value + 1 for value in values],
        ]


def test_neighbors_in_graphs_exchange_along_their_links(tmp_path):
    generator = np.random.default_rng(8)
    links = [(int(a), int(b)) for a, b in generator.integers(0, 7, (20, 2))]
    weights = generator.integers(1, 9, 20).tolist()
    script = f"""
    links, weights = {links}, {weights}
    own = [number for number in range(20) if number % size == rank]
    graph = comm.Create_dist_graph(
        [links[one][0] for one in own], [1] * len(own), [links[one][1] for one in own],
        [weights[one] for one in own],
    )
    sources, targets, (before, behind) = graph.Get_dist_neighbors()
    say((sorted(zip(sources, before)), sorted(zip(targets, behind))))
    adjacent = comm.Create_dist_graph_adjacent(sources, targets)
    say(adjacent.neighbor_allgather(rank) == sources)
    counts = [1 + target for target in targets]
    sent = np.concatenate([[rank * 10 + target] * (1 + target) for target in targets] + [[]])
    got = np.empty(len(sources) * (1 + rank))
    adjacent.Neighbor_alltoallv(
        [sent, counts, MPI.DOUBLE], [got, [1 + rank] * len(sources), MPI.DOUBLE]
    )
    say(got.tolist())
    say(sources)
    ends = np.cumsum([2] * size)
    around = comm.Create_graph(ends, [(one + way) % size for one in range(size) for way in (1, 2)])
    say(around.neighbors)
    """
    said, _ = played(tmp_path, "ring:7", script)
    for rank in range(7):
        rows = list(zip(links, weights, strict=True))
        heard = sorted((a, w) for (a, b), w in rows if b == rank)
        told = sorted((b, w) for (a, b), w in rows if a == rank)
        lists, same, values, sources, neighbors = said[rank]
        assert lists == (heard, told)
        assert same
        assert sources != [] or values == []
        assert values == [10 * source + rank for source in sources for _ in range(1 + rank)]
        assert neighbors == [(rank + 1) % 7, (rank + 2) % 7]


# ---- two groups


@pytest.mark.parametrize("network", NETWORKS)
def test_messages_go_between_the_groups_of_an_intercommunicator(tmp_path, network):
    size = size_of(network)
    cut = size // 3
    script = f"""
    cut = {cut}
    own = comm.Split(rank < cut, -rank)
    leaders = (size - 1, cut - 1)
    between = own.Create_intercomm(0, comm, leaders[rank >= cut], tag=9)
    say((between.rank, between.size, between.remote_size, between.is_inter))
    if between.rank < min(between.size, between.remote_size):
        for turn in range(2):
            say(between.sendrecv((rank, turn), between.rank, source=between.rank))
    say(between.remote_group.Translate_ranks(group=comm.group))
    say(between.Merge(high=rank < cut).allgather(rank))
    say(between.Merge(high=rank >= cut).allgather(rank))
    pairs = between.Split(between.rank % 2)
    say(pairs.remote_group.Translate_ranks(group=comm.group) if pairs else None)
    """
    said, _ = played(tmp_path, network, script)
    groups = [list(range(cut))[::-1], list(range(cut, size))[::-1]]
    for rank in range(size):
        own, other = groups if rank < cut else groups[::-1]
        place = own.index(rank)
        expected = [(place, len(own), len(other), True)]
        if place < min(len(own), len(other)):
            expected += [(other[place], turn) for turn in range(2)]
        expected += [other, groups[1] + groups[0], groups[0] + groups[1]]
        both = own[place % 2 :: 2] and other[place % 2 :: 2]
        assert said[rank] == [*expected, both or None]


@pytest.mark.parametrize("network", NETWORKS)
def test_collectives_between_groups_bring_each_group_what_the_other_one_has(tmp_path, network):
    size = size_of(network)
    script = """
    cut = size // 3
    own = comm.Split(rank < cut)
    between = own.Create_intercomm(0, comm, cut if rank < cut else 0)
    heads = rank < cut
    say(between.allgather(rank))
    say(between.allreduce(rank))
    say(between.alltoall([(rank, place) for place in range(between.remote_size)]))
    root = (MPI.ROOT if rank == cut - 1 else MPI.PROC_NULL) if heads else cut - 1
    say(between.bcast("word", root))
    say(between.gather(rank, root))
    say(between.scatter([10 * place for place in range(between.remote_size)], root))
    say(between.reduce(1, root=root))
    got = np.empty(2 * between.remote_size)
    between.Allgather(np.array([rank, -rank], float), got)
    say(got.tolist())
    got = np.zeros(3)
    between.Iallreduce(np.array([rank, 1.0, 2.0]), got, op=MPI.SUM).Wait()
    say(got.tolist())
    between.Bcast(got, root)
    say(got.tolist())
    between.Barrier()
    """
    said, _ = played(tmp_path, network, script)
    cut = size // 3
    low, high = list(range(cut)), list(range(cut, size))
    sums = {rank: [float(sum(high)), len(high), 2.0 * len(high)] for rank in low}
    sums.update({rank: [float(sum(low)), len(low), 2.0 * len(low)] for rank in high})
    for rank in range(size):
        own, other = (low, high) if rank < cut else (high, low)
        place, is_root = own.index(rank), rank == cut - 1
        assert said[rank] == [
            other,
            sum(other),
            [(one, place) for one in other],
            "word" if own is high else None,
            high if is_root else None,
            10 * place if own is high else None,
            len(high) if is_root else None,
            [float(one) for each in other for one in (each, -each)],
            sums[rank],
            sums[rank] if own is low else sums[cut - 1],
        ]


# ---- what is kept, and the end


def test_attributes_follow_duplicates_as_their_keys_say(tmp_path):
    script = """
    gone = []
    key = MPI.Comm.Create_keyval(
        copy_fn=lambda comm, key, value: value + [rank], delete_fn=lambda c, k, v: gone.append(v)
    )
    plain = MPI.Comm.Create_keyval()
    comm.Set_attr(key, ["from"])
    comm.Set_attr(plain, 1)
    other = comm.Dup()
    say((other.Get_attr(key), other.Get_attr(plain), comm.Get_attr(plain)))
    other.Free()
    comm.Delete_attr(key)
    say(gone)
    say((comm.Get_attr(MPI.UNIVERSE_SIZE), comm.Get_attr(MPI.APPNUM)))
    """
    said, _ = played(tmp_path, "ring:5", script)
    for rank in range(5):
        copied = ["from", rank]
        assert said[rank] == [(copied, None, 1), [copied, ["from"]], (5, 0)]


def test_names_and_error_handlers_belong_to_each_processor(tmp_path):
    script = """
    other, called = comm.Dup(), []
    other.name = f"of {rank}"
    handler = MPI.Comm.Create_errhandler(lambda one, code: called.append((one.name, code)))
    other.Set_errhandler(handler)
    other.Call_errhandler(MPI.ERR_OTHER)
    say((comm.name, MPI.COMM_SELF.name, other.name, called == [(f"of {rank}", MPI.ERR_OTHER)]))
    """
    said, _ = played(tmp_path, "hypercube:2", script)
    for rank in range(4):
        assert said[rank] == [("MPI_COMM_WORLD", "MPI_COMM_SELF", f"of {rank}", True)]


def test_a_freed_communicator_is_the_null_one_and_cannot_be_used(tmp_path):
    script = """
    other = comm.Dup()
    other.Free()
    errors = []
    for use in (other.Get_rank, other.Free, other.barrier, lambda: other.send(0, 0), comm.Free):
        try:
            use()
        except MPI.Exception as error:
            errors.append(error.Get_error_class() == MPI.ERR_COMM)
    say((other == MPI.COMM_NULL, errors))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert all(said[rank] == [(True, [True] * 5)] for rank in range(3))


def test_constants_travel_by_their_names(tmp_path):
    script = """
    things = [comm, MPI.COMM_SELF, MPI.COMM_NULL, MPI.GROUP_EMPTY, MPI.ERRORS_RETURN, MPI.SUM]
    there = comm.sendrecv(things, (rank + 1) % size, source=(rank - 1) % size)
    say([one is other for one, other in zip(things, there)])
    try:
        comm.send(comm.Dup(), 0)
    except ValueError as error:
        say(str(error))
    """
    said, _ = played(tmp_path, "ring:3", script)
    for rank in range(3):
        assert said[rank] == [[True] * 6, "cannot serialize 'mpi4py.MPI.Intracomm' instance"]


def test_abort_ends_the_run_and_names_the_processor_and_its_code(tmp_path):
    script = """
    comm.barrier()
    if rank == 2:
        comm.Abort(17)
    comm.recv(source=2)
    """
    with pytest.raises(ProgramError, match=r"rocessor 2\b.*17"):
        played(tmp_path, "hypercube:2", script)


def test_a_steps_time_is_a_microsecond(tmp_path):
    script = """
    begin = MPI.Wtime()
    comm.barrier()
    if rank == 0:
        say((begin, round((MPI.Wtime() - begin) * 1e6), MPI.Get_processor_name()))
    """
    said, outcome = played(tmp_path, "hypercube:3", script)
    assert said[0] == [(1e-9, outcome.steps, "hypercube:3/000")]


def test_mpi4pys_own_messages_of_large_objects_travel_on_the_machine(tmp_path):
    script = """
    from mpi4py.util import pkl5
    large = pkl5.Intracomm(comm)
    own = np.arange(1000.0) + rank
    there = large.sendrecv(own, (rank + 1) % size, source=(rank - 1) % size)
    all = large.allgather(own)
    say((float(there.sum() - own.sum()), [float(one[0]) for one in all]))
    """
    said, outcome = played(tmp_path, "ring:5", script)
    assert outcome.steps > 0
    for rank in range(5):
        difference = 1000.0 * ((rank - 1) % 5 - rank)
        assert said[rank] == [(difference, [0.0, 1.0, 2.0, 3.0, 4.0])]


# ---- what is not there


def test_what_is_missing_is_refused_by_its_name(tmp_path):
    script = """
    try:
        MPI.Register_datarep("own", None, None, None)
    except NotImplementedError as error:
        say(str(error))
    """
    said, _ = played(tmp_path, "ring:3", script)
    lacks = "the machine has no user-defined data representations"
    told = f"MPI.Register_datarep is not part of the emulated MPI: {lacks}."
    assert said == {rank: [told] for rank in range(3)}


def test_a_null_handle_has_no_group_and_says_of_what_kind_it_is(tmp_path):
    script = """
    for null in (MPI.COMM_NULL, MPI.WIN_NULL):
        try:
            null.group
        except MPI.Exception as error:
            say(error.Get_error_class() in (MPI.ERR_COMM, MPI.ERR_WIN) and str(error))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said[0] == ["MPI_ERR_COMM: invalid communicator", "MPI_ERR_WIN: invalid window"]


LOCAL = set(
    """BottomType BufferAutomaticType Datatype Exception InPlaceType Info Pickle Status
    buffer""".split()
)
"""Classes of the real mpi4py that touch nothing but the caller's memory."""


def reached(value, real):
    """Whether something is the real module's, and may have an effect on others."""
    if isinstance(value, type):
        return value is real and value.__name__ not in LOCAL | {"memory"}
    if type(value).__name__ in ("int", "str", "dict"):
        return False
    return value is real and type(value).__name__ not in LOCAL


FUNCTIONS = set(
    """Add_error_class Add_error_code Add_error_string Remove_error_class Remove_error_code
    Remove_error_string Aint_add Aint_diff Alloc_mem Free_mem Compute_dims Get_abi_fortran_info
    Get_abi_info Get_abi_version Get_address Get_error_class Get_error_string Get_library_version
    Get_version Pcontrol _addressof _datatype_create _datatype_decode _handleof _sizeof _typealign
    _typecode get_vendor""".split()
)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_groups_are_equal_by_their_members_and_handles_are_numbers_of_a_processor(
    tmp_path, mapping
):
    script = """
    group = comm.group.Incl([0, 2, 3, 1])
    part = comm.Create_group(group)
    if part:
        say((part.group == group, part.group == comm.group.Incl([0, 1, 2, 3])))
        say((part.handle, comm.handle, part.handle, MPI.COMM_SELF.handle, MPI.COMM_NULL.handle))
        say(MPI.Comm.fromhandle(part.handle) == part != comm)
        say(MPI.Group.fromhandle(group.handle).Translate_ranks() == [0, 2, 3, 1])
        say(part.group.handle == group.handle != comm.group.handle)
    """
    said, _ = played(tmp_path, "ring:7", script, mapping=mapping)
    once = [(True, False), (1, 2, 1, 3, 0), True, True, True]
    assert said == {rank: once if rank < 4 else [] for rank in range(7)}


def test_a_communicator_can_be_freed_through_one_face_only(tmp_path):
    script = """
    made = comm.Dup()
    face = MPI.Intracomm(made)
    made.Free()
    try:
        face.Free()
    except MPI.Exception as error:
        say(error.Get_error_class() == MPI.ERR_COMM)
    comm.barrier()
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert said == {rank: [True] for rank in range(8)}


def test_nothing_is_kept_of_communicators_that_are_freed(tmp_path):
    script = """
    from mpi4py.util import pkl5
    from mpinet.mpi.world.calls import running

    kept = []
    for turn in range(4):
        made = comm.Dup()
        made.Attach_buffer(bytearray(100))
        made.barrier()
        pkl5.Intracomm(made).bcast(rank)
        made.Free()
        kept.append(len(running.turns.current.storage()))
    say(kept[0] == kept[-1])
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [True] for rank in range(5)}


def test_a_processor_that_waits_for_itself_is_named_in_a_deadlock(tmp_path):
    script = """
    if rank == 1:
        MPI.COMM_SELF.recv(source=0)
    comm.barrier()
    """
    with pytest.raises(Deadlock, match=r"1 waits for itself:\n  processor 1, "):
        played(tmp_path, "ring:4", script)


def test_errors_of_any_depth_and_without_a_text_are_told(tmp_path):
    deep = """
    def deeper(n):
        return deeper(n + 1)

    deeper(0)
    """
    with pytest.raises(ProgramError, match=r"in deeper: RecursionError: .*\nTraceback"):
        played(tmp_path, "ring:3", deep)
    mute = """
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    raise Mute
    """
    with pytest.raises(ProgramError, match=r"Mute: <its text raises ValueError>\nTraceback"):
        played(tmp_path, "ring:3", mute)


def test_few_trees_are_kept_however_many_roots_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MOST_KEPT", 8)
    script = """
    from mpinet.mpi.world.calls import running

    for turn in range(2):
        heard = [comm.bcast(rank * 10, root) for root in range(size)]
        requests = [comm.Ibcast(np.full(1, rank), root) for root in range(size)]
        MPI.Request.Waitall(requests)
        say(heard == [root * 10 for root in range(size)])
    comm.bcast(None, 0)
    say(sum(root in running.world.trees for root in range(size)) == 8)
    """
    said, _ = played(tmp_path, "ring:14", script)
    assert said == {rank: [True, True, True] for rank in range(14)}


def test_nothing_of_the_real_mpi_that_could_communicate_is_left():
    machine = mpinet.Machine("ring:3")
    module = standing_in(World(machine))
    real_types = {one for one in vars(REAL).values() if isinstance(one, type)}
    for name, real in vars(REAL).items():
        if name.startswith("__") or name in FUNCTIONS:
            continue
        ours = getattr(module, name)
        assert not reached(ours, real), name
        if isinstance(ours, type) and ours is not real:
            for member in dir(real):
                owner = next(one for one in ours.__mro__ if member in vars(one))
                left = not member.startswith("_") and owner in real_types
                assert not left or (name, member) == ("Op", "handle"), f"{name}.{member}"


def standing_in(world):
    """The stand-in module of a run."""
    from mpinet.mpi.world.calls import running

    running.begin(world)
    return stand_in()
