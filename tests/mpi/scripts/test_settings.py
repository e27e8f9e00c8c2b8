"""mpi4py.rc and the environment variables in its place, for each processor its own."""

import pytest
from mpi.scripts.playing import played

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    ("errors", "handler"),
    [
        ("default", "ERRORS_ARE_FATAL"),
        ("exception", "ERRORS_RETURN"),
        ("abort", "ERRORS_ABORT"),
        ("fatal", "ERRORS_ARE_FATAL"),
    ],
)
def test_communicators_begin_with_the_error_handler_that_is_set(
    tmp_path, monkeypatch, errors, handler
):
    monkeypatch.setenv("MPI4PY_RC_ERRORS", errors)
    script = f"""
        import mpi4py

        for one in (comm, MPI.COMM_SELF, comm.Dup()):
            say(one.Get_errhandler() == MPI.{handler})
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        say(comm.Get_errhandler() == MPI.ERRORS_RETURN)
        say(mpi4py.rc.errors)
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [True] * 4 + [errors] for rank in range(3)}


def test_variables_of_the_environment_go_before_what_is_usual(tmp_path, monkeypatch):
    monkeypatch.setenv("MPI4PY_RC_INITIALIZE", "no")
    monkeypatch.setenv("MPI4PY_RC_IRECV_BUFSZ", "2048")
    monkeypatch.setenv("MPI4PY_RC_THREAD_LEVEL", "odd")
    script = """
        import mpi4py

        say(MPI.Is_initialized())
        MPI.Init()
        say((MPI.Is_initialized(), mpi4py.rc.initialize, mpi4py.rc.irecv_bufsz))
    """
    with pytest.warns(RuntimeWarning, match="mpi4py.rc.thread_level: unexpected value 'odd'"):
        said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [False, (True, False, 2048)] for rank in range(3)}


def test_settings_are_each_processors_own(tmp_path):
    script = """
        import mpi4py

        rc = mpi4py.rc
        rc.fast_reduce = rank
        mpi4py.rc(irecv_bufsz=rank)
        comm.barrier()
        say((rc.fast_reduce, rc.irecv_bufsz, rc.threads, "errors" in dir(rc)))
        for wrong in (lambda: rc(unknown=1), lambda: setattr(rc, "unknown", 1)):
            try:
                wrong()
            except TypeError:
                say("wrong")
        if rank != 1:
            del mpi4py.rc
        comm.barrier()
        say((hasattr(mpi4py, "rc"), MPI.Is_initialized()))
    """
    said, _ = played(tmp_path, "ring:3", script)
    told = ["wrong", "wrong"]
    assert said == {rank: [(rank, rank, True, True), *told, (rank == 1, True)] for rank in range(3)}
