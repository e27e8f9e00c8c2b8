"""Processes that join a run: spawned onto processors left free, or met at ports."""

from textwrap import dedent

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, ProgramError

pytestmark = pytest.mark.mpi

CHILD = """
    import sys
    from mpi4py import MPI

    world, parents = MPI.COMM_WORLD, MPI.Comm.Get_parent()
    everybody = parents.Merge(high=True)
    told = sys.argv[1:], world.rank, world.size, world.Get_attr(MPI.APPNUM), everybody.rank
    parents.gather((*told, MPI.COMM_WORLD.allreduce(everybody.rank)), root=0)
    parents.Disconnect()
    assert MPI.Comm.Get_parent() == MPI.COMM_NULL and world.Get_name() == "MPI_COMM_WORLD"
"""

PARENTS = """
    import sys
    def root(here):
        return MPI.ROOT if rank == here else MPI.PROC_NULL
"""


def with_child(folder, script, child=CHILD):
    """A script that finds the file of a child by its name."""
    (folder / "child.py").write_text(dedent(child))
    return script.replace("CHILD", repr(str(folder / "child.py")))


def test_children_have_a_world_of_their_own_and_free_processors_are_taken_again(tmp_path):
    script = with_child(
        tmp_path,
        PARENTS
        + """
    say((size, comm.Get_attr(MPI.UNIVERSE_SIZE), MPI.Comm.Get_parent() == MPI.COMM_NULL))
    for turn in range(2):
        codes = []
        command, words = (sys.executable, [CHILD, str(turn)]) if rank == 1 else (None, None)
        children = comm.Spawn(command, words, 2, root=1, errcodes=codes)
        everybody = children.Merge()
        say((children.remote_size, codes, everybody.rank, everybody.size))
        found = children.gather(None, root=root(0))
        if rank == 0:
            say(found)
        children.Disconnect()
    """,
    )
    said, outcome = played(tmp_path, "torus:2x3", script, spare=2)
    for rank in range(4):
        assert said[rank][0] == (4, 6, True)
        assert [one for one in said[rank][1:] if type(one) is tuple] == [(2, [0, 0], rank, 6)] * 2
    told = [[([str(turn)], child, 2, 0, 4 + child, 9) for child in range(2)] for turn in range(2)]
    assert [one for one in said[0] if type(one) is list] == told
    spawned = [each for each in outcome.kinds if each.kind == "Spawn"]
    # asked and answered, a launch and a return for each child, and what the members agree on
    assert transport().rank or spawned[0].messages == 2 * (2 + 2 + 2 + 3)
    assert outcome.unreceived == 0


def test_several_commands_are_one_world_and_each_knows_its_number(tmp_path):
    script = with_child(
        tmp_path,
        PARENTS
        + """
    if rank == 0:
        import os
        folder, name = os.path.split(CHILD)
        info = MPI.Info.Create({"wdir": folder})
        codes = []
        children = MPI.COMM_SELF.Spawn_multiple(
            [sys.executable, name], [["-u", CHILD, "a"], ["b", "c"]], [1, 2], info, 0, codes
        )
        children.Merge()
        say(children.gather(None, root=MPI.ROOT))
        say(codes)
    """,
    )
    said, _ = played(tmp_path, "hypercube:3", script, spare=4)
    words = [(["a"], 0), (["b", "c"], 1), (["b", "c"], 1)]
    told = [(word, child, 3, number, 1 + child, 6) for child, (word, number) in enumerate(words)]
    assert said[0] == [told, [[0], [0, 0]]]


def test_what_cannot_be_spawned_says_so(tmp_path):
    script = with_child(
        tmp_path,
        """
    import sys
    for command, words, number in ((CHILD, [], 3), (CHILD + "x.py", [], 1)):
        try:
            comm.Spawn(command, words, number)
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_SPAWN)
    try:
        MPI.COMM_SELF.Spawn("/bin/sh", [], 1)
    except NotImplementedError as error:
        say(str(error))
    """,
    )
    said, _ = played(tmp_path, "ring:4", script, spare=2)
    no_python = "Spawn of '/bin/sh': processors can run only Python programs."
    assert [said[rank] for rank in range(2)] == [[True, True, no_python]] * 2
    with pytest.raises(ProgramError, match="ERR_SPAWN"):
        played(tmp_path, "ring:4", "    comm.Spawn('script.py')")


def test_processors_that_are_never_free_again_are_a_deadlock(tmp_path):
    script = with_child(
        tmp_path,
        "    MPI.COMM_SELF.Spawn(CHILD, maxprocs=2)\n",
        "from mpi4py import MPI\nMPI.Comm.Get_parent().recv()",
    )
    with pytest.raises(Deadlock) as stuck:
        played(tmp_path, "ring:4", script, spare=2)
    told = str(stuck.value)
    assert "script.py:10: waits in Spawn" in told and "for 2 free processors" in told


def test_a_child_that_fails_ends_the_run_with_its_line(tmp_path):
    script = with_child(tmp_path, "    MPI.COMM_SELF.Spawn(CHILD)\n", "import mpi4py\n1 / 0")
    with pytest.raises(ProgramError, match=r"child\.py:2 .*ZeroDivisionError"):
        played(tmp_path, "ring:4", script, spare=3)


def test_groups_meet_at_a_port_by_its_name(tmp_path):
    script = """
    group = comm.Split(rank % 2, -rank)
    if rank % 2:
        port = None
        if group.rank == 0:
            port = MPI.Open_port()
            MPI.Publish_name("meeting", port)
            comm.send(None, size - 1)
        for turn in range(2):
            others = group.Accept(port)
            say(others.remote_group.Translate_ranks())
            others.Free()
        if group.rank == 0:
            MPI.Unpublish_name("meeting", port)
            MPI.Close_port(port)
    else:
        port = None
        if group.rank == 0:
            comm.recv(source=MPI.ANY_SOURCE)
            port = MPI.Lookup_name("meeting")
        for turn in range(2):
            others = group.Connect(port)
            say(others.remote_group.Translate_ranks())
            others.Free()
    """
    said, outcome = played(tmp_path, "ring:5", script)
    for rank in range(5):
        others = [3, 1] if rank % 2 == 0 else [4, 2, 0]
        assert said[rank] == [others, others]
    assert outcome.unreceived == 0


def test_the_two_ends_of_a_socket_get_a_communicator(tmp_path):
    script = """
    import socket

    def joined(end):
        with end:
            other = MPI.Comm.Join(end.fileno())
        return other.remote_size, other.sendrecv(rank, 0, source=0)

    if rank % 2 == 0 and rank + 1 < size:
        with socket.create_server(("127.0.0.1", 0)) as server:
            comm.ssend(server.getsockname(), rank + 1)
            comm.recv(source=rank + 1)
            say(joined(server.accept()[0]))
    elif rank % 2:
        end = socket.create_connection(comm.recv(source=rank - 1))
        comm.send(None, rank - 1)
        say(joined(end))
    mine, _ = socket.socketpair()
    say(MPI.Comm.Join(mine.fileno()) == MPI.COMM_NULL)
    try:
        MPI.Comm.Join(-1)
    except MPI.Exception as error:
        say(error.Get_error_class() == MPI.ERR_ARG)
    """
    said, outcome = played(tmp_path, "ring:5", script)
    others = [[(1, rank ^ 1)] if rank < 4 else [] for rank in range(5)]
    assert [said[rank] for rank in range(5)] == [[*other, True, True] for other in others]
    assert outcome.unreceived == 0


def test_a_socket_that_the_other_end_does_not_join_is_a_deadlock(tmp_path):
    script = """
    import socket

    server = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(server.getsockname()) as end:
        if rank == 0:
            MPI.Comm.Join(end.fileno())
    """
    with pytest.raises(Deadlock, match="the other end of its socket"):
        played(tmp_path, "ring:3", script)


def test_ports_and_names_that_are_not_there_are_errors_of_mpi(tmp_path):
    script = """
    def error(function, *arguments):
        try:
            function(*arguments)
        except MPI.Exception as error:
            return MPI.Get_error_class(error.Get_error_code())

    port = MPI.Open_port()
    wrong = [error(MPI.Lookup_name, f"a{rank}"), error(MPI.Publish_name, f"a{rank}", port)]
    wrong += [error(MPI.Publish_name, f"a{rank}", port), error(MPI.Unpublish_name, "b", port)]
    say(wrong + [MPI.Lookup_name(f"a{rank}") == port])
    MPI.Close_port(port)
    say([error(call, port) for call in (MPI.Close_port, MPI.COMM_SELF.Accept)])
    say([error(comm.Connect, "nowhere")])
    say([MPI.ERR_NAME, MPI.ERR_SERVICE, MPI.ERR_PORT])
    """
    said, _ = played(tmp_path, "complete:3", script)
    for told in said.values():
        name, service, port = told[-1]
        assert told[:-1] == [[name, None, service, service, True], [port, port], [port]]
    waits = "    MPI.COMM_SELF.Accept(MPI.Open_port()) if rank else comm.recv(source=1)"
    with pytest.raises(Deadlock, match="waits in Accept since step 0 for a message from"):
        played(tmp_path, "complete:2", waits)
