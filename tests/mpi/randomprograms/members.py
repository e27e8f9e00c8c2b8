"""Operations of random programs: groups, communicators, grids and graphs of ranks."""

from typing import Any

import numpy as np
from drawing import Program
from mpi4py import MPI


def summed(program: Program, comm: Any) -> Any:
    """What a communicator's members get from collectives and a message."""
    if not comm:
        return "null"
    rank, size = comm.Get_rank(), comm.Get_size()
    total, into = np.zeros(2), np.zeros(2)
    own = program.numbers(2)
    comm.Allreduce(own, total)
    comm.Sendrecv(own, (rank + 1) % size, 0, into, (rank - 1) % size, 0)
    return rank, size, total.tolist(), into.tolist(), comm.allgather(program.rank)


def split(program: Program) -> None:
    """Ranks are split by colors and keys, several times."""
    comm, draw = program.comm, program.draw
    rows = [(draw.choice([0, 1, 2, MPI.UNDEFINED]), draw.randint(-3, 3)) for _ in range(64)]
    part = comm.Split(*rows[program.rank])
    program.say(summed(program, part))
    if part:
        again = part.Split(0, -part.Get_rank())
        compared = MPI.Comm.Compare(part, again)
        program.say(summed(program, again), compared == MPI.SIMILAR, compared == MPI.IDENT)
        again.Free()
        part.Free()


def duplicated(program: Program) -> None:
    """Messages of a duplicate do not mix with those of the original."""
    comm = program.comm
    other = program.draw.choice([comm.Dup, comm.Clone])()
    to, source = program.shift()
    one, two = np.zeros(2), np.zeros(2)
    requests = [comm.Irecv(one, source, 1), other.Irecv(two, source, 1)]
    requests += [other.Isend(np.full(2, 2.0), to, 1), comm.Isend(np.full(2, 1.0), to, 1)]
    MPI.Request.Waitall(requests)
    compared = MPI.Comm.Compare(comm, other) == MPI.CONGRUENT
    program.say(one, two, compared)
    later, request = comm.Idup()
    request.Wait()
    program.say(summed(program, later))
    later.Free()
    other.Free()


def _drawn_members(program: Program) -> list[int]:
    size = program.size
    return program.draw.sample(range(size), program.draw.randint(1, size))


def groups(program: Program) -> None:
    """Groups are combined, compared and translated, and make communicators."""
    comm, draw = program.comm, program.draw
    whole = comm.Get_group()
    one, two = whole.Incl(_drawn_members(program)), whole.Excl(_drawn_members(program)[1:])
    combine = draw.choice(["Union", "Intersection", "Difference"])
    both = getattr(MPI.Group, combine)(one, two)
    ranks = list(range(one.Get_size()))
    translated = MPI.Group.Translate_ranks(one, ranks, two)
    said = [-1 if place == MPI.UNDEFINED else place for place in translated]
    same = MPI.Group.Compare(one, two)
    names = {MPI.IDENT: "same", MPI.SIMILAR: "similar", MPI.UNEQUAL: "unequal"}
    program.say(combine, both.Get_size(), said, names[same], one.Get_size())
    made = comm.Create(both) if both.Get_size() else MPI.COMM_NULL
    program.say(summed(program, made))
    if one.Get_rank() != MPI.UNDEFINED:
        member = comm.Create_group(one, draw.randrange(5) if False else 3)
        program.say(summed(program, member))
        member.Free()
    if made:
        made.Free()
    for group in (whole, one, two, both):
        group.Free()


def grid(program: Program) -> None:
    """A grid of ranks: coordinates, shifts, neighbours and slices."""
    comm, draw = program.comm, program.draw
    count = draw.randint(1, 3)
    dims = MPI.Compute_dims(program.size, count)
    periods = [draw.random() < 0.5 for _ in dims]
    cart = comm.Create_cart(dims, periods, False)
    coords = cart.Get_coords(cart.Get_rank())
    program.say(dims, periods, coords, cart.Get_cart_rank(coords), cart.Get_dim())
    for dimension in range(count):
        source, to = cart.Shift(dimension, draw.choice([1, -1, 2]))
        into = np.full(2, -9.0)
        cart.Sendrecv(program.numbers(2), to, 0, into, source, 0)
        program.say(into)
    keep = [draw.random() < 0.5 for _ in dims]
    part = cart.Sub(keep)
    program.say(keep, summed(program, part))
    # Of a periodic dimension with one or two ranks, libraries order both neighbours differently.
    if all(not period or length > 2 for period, length in zip(periods, dims, strict=True)):
        into = np.full((2 * count, 2), -1.0)
        cart.Neighbor_allgather(program.numbers(2), into)
        program.say(into, cart.neighbor_allgather((program.rank, "x")))
        into[:] = -1
        cart.Ineighbor_alltoall(program.numbers((2 * count, 2)), into).Wait()
        program.say(into)
    part.Free()
    cart.Free()


def graph(program: Program) -> None:
    """A graph of ranks and the messages along its edges."""
    comm, draw, size = program.comm, program.draw, program.size
    # Every rank has a neighbour: Open MPI's neighbourhood collectives hang without one.
    edges = {(u, u + 1) for u in range(size - 1)}
    edges |= {(u, v) for u in range(size) for v in range(size) if u < v and draw.random() < 0.5}
    near = [sorted(v if u == w else u for u, v in edges if w in (u, v)) for w in range(size)]
    own = near[program.rank]
    if draw.random() < 0.5:
        index = np.cumsum([len(each) for each in near]).tolist()
        made = comm.Create_graph(index, [v for each in near for v in each], False)
        program.say(made.Get_neighbors(made.Get_rank()), made.Get_dims())
    else:
        made = comm.Create_dist_graph_adjacent(own, own)
        program.say(made.Get_dist_neighbors_count()[:2])
    into = np.zeros((len(own), 3), "i4")
    made.Neighbor_allgather(program.numbers(3, "i4"), into)
    program.say(into)
    made.Neighbor_alltoall(program.numbers((len(own), 3), "i4"), into)
    program.say(into, made.neighbor_alltoall([(program.rank, v) for v in own]))
    made.Free()


def two_groups(program: Program) -> None:
    """Two groups exchange messages and collectives, and are merged."""
    comm, draw, size = program.comm, program.draw, program.size
    if size < 2:
        return
    cut = draw.randint(1, size - 1)
    first = program.rank < cut
    local = comm.Split(int(first), program.rank)
    inter = local.Create_intercomm(0, comm, cut if first else 0, 7)
    program.say(inter.Get_size(), inter.Get_remote_size(), inter.Is_inter())
    program.say(
        inter.allgather((program.rank, "inter")),
        inter.alltoall([(program.rank, who) for who in range(inter.Get_remote_size())]),
    )
    total = np.zeros(2)
    inter.Allreduce(program.numbers(2), total)
    root = MPI.ROOT if program.rank == 0 else MPI.PROC_NULL
    found = inter.bcast(("from", program.seed), root if first else 0)
    program.say(total, found if not first else None)
    if local.Get_rank() == 0:
        program.say(inter.sendrecv(program.rank, 0, source=0))
    merged = inter.Merge(high=draw.choice([first, not first]))
    program.say(summed(program, merged))
    for each in (merged, inter, local):
        each.Free()


def attributes(program: Program) -> None:
    """Names and attributes of a communicator, and what a duplicate has of them."""
    comm = program.comm.Dup()
    key, other = MPI.Comm.Create_keyval(copy_fn=True), MPI.Comm.Create_keyval()
    comm.Set_attr(key, ("kept", program.rank))
    comm.Set_attr(other, "lost")
    comm.Set_name(f"name {program.seed}")
    again = comm.Dup()
    program.say(comm.Get_name(), again.Get_attr(key), again.Get_attr(other), comm.Get_attr(other))
    comm.Delete_attr(key)
    program.say(comm.Get_attr(key), again.Get_attr(key))
    comm.Free()
    again.Free()
    MPI.Comm.Free_keyval(key)
    MPI.Comm.Free_keyval(other)
