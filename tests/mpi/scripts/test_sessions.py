"""Sessions: from names of sets of processes to groups, and from these to communicators."""

import pytest
from mpi.scripts.playing import played

pytestmark = pytest.mark.mpi


def test_a_session_leads_to_the_communicators_of_its_sets_without_a_world(tmp_path):
    script = """
    import mpi4py
    session = MPI.Session.Init()
    names = [session.Get_nth_pset(n) for n in range(session.Get_num_psets())]
    say(names)
    for name in names:
        group = MPI.Group.Create_from_session_pset(session, name)
        made = MPI.Intracomm.Create_from_group(group, name)
        say((made.rank, made.size, made.allreduce(rank), session.Get_pset_info(name)["mpi_size"]))
        made.Free()
    evens = session.Create_group(names[0]).Range_incl([(0, size - 1, 2)])
    if rank % 2 == 0:
        say(MPI.Intracomm.Create_from_group(evens, "evens").allgather(rank))
    session.Finalize()
    say(session == MPI.SESSION_NULL)
    """
    said, _ = played(tmp_path, "ring:5", script)
    for rank in range(5):
        sets = [(rank, 5, 10, "5"), (0, 1, rank, "1")]
        evens = [[0, 2, 4]] if rank % 2 == 0 else []
        assert said[rank] == [["mpi://WORLD", "mpi://SELF"], *sets, *evens, True]


def test_sessions_have_hints_handlers_and_memory_of_their_own(tmp_path):
    script = """
    def error(function, *arguments):
        try:
            function(*arguments)
        except MPI.Exception as error:
            return MPI.Get_error_class(error.Get_error_code())

    one, other = MPI.Session.Init(MPI.Info.Create({"a": "b"})), MPI.Session.Init()
    say((one != other, one == MPI.Session(one), one == MPI.Session.fromhandle(one.handle)))
    say((dict(one.Get_info().items()), dict(other.Get_info().items())))
    called = []
    one.Set_errhandler(MPI.Session.Create_errhandler(lambda session, code: called.append(code)))
    one.Call_errhandler(MPI.ERR_OTHER)
    say(called == [MPI.ERR_OTHER])
    wrong = [error(one.Get_nth_pset, 2), error(one.Create_group, "mpi://NOWHERE")]
    wrong += [error(comm.Bsend, bytearray(1), rank)]
    one.Attach_buffer(bytearray(MPI.BSEND_OVERHEAD + 8))
    wrong += [error(comm.Bsend, bytearray(8), rank), error(comm.Bsend, bytearray(8), rank)]
    one.Detach_buffer()
    face = MPI.Session(other)
    other.Finalize()
    wrong += [error(face.Get_num_psets), error(other.Get_info)]
    say(wrong)
    say([MPI.ERR_ARG, MPI.ERR_ARG, MPI.ERR_BUFFER, None, MPI.ERR_BUFFER, *2 * [MPI.ERR_SESSION]])
    """
    said, _ = played(tmp_path, "complete:2", script)
    for told in said.values():
        assert told[:3] == [(True, True, True), ({"a": "b"}, {}), True]
        assert told[3] == told[4]
