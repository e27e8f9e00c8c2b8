"""MPI's objects in scripts: constants, handles, null objects, as the real mpi4py has them."""

import weakref

import pytest
from mpi.scripts.playing import played

from mpinet.mpi.module import CONSTANTS
from mpinet.mpi.real import REAL

pytestmark = pytest.mark.mpi


def allowed(ask, one):
    """Whether something can be asked of an object."""
    try:
        ask(one)
    except TypeError:
        return False
    return True


def order(one):
    """Ask whether it is less than itself."""
    return one < one


@pytest.mark.parametrize("ask", [hash, weakref.ref, order])
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_can_be_hashed_ordered_and_referred_to_weakly_as_the_real_ones(ask, name):
    assert allowed(ask, CONSTANTS[name]) == allowed(ask, getattr(REAL, name))


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_take_as_much_memory_in_c_as_the_real_ones(tmp_path, name):
    script = f"say((MPI._sizeof(MPI.{name}), MPI._sizeof(type(MPI.{name}))))"
    said, _ = played(tmp_path, "complete:1", script)
    assert said == {0: [(REAL._sizeof(getattr(REAL, name)),) * 2]}


def test_a_constants_other_face_can_be_freed_and_the_constant_cannot(tmp_path):
    script = """
        for one in (MPI.SUM, MPI.MAXLOC, MPI.MESSAGE_NO_PROC, MPI.GROUP_EMPTY, MPI.COMM_WORLD):
            other = type(one)(one)
            one.free()
            other.free()
            say((bool(one), bool(other)))
        say(comm.allreduce(rank, MPI.SUM))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [(True, False)] * 5 + [3] for rank in range(3)}


def test_an_object_is_that_which_its_handle_stands_for(tmp_path):
    script = """
        own = MPI.Op.Create(lambda low, high, datatype: high)
        comm.send("body", rank)
        message = comm.mprobe()
        for one in (MPI.MIN, MPI.OP_NULL, own, message, MPI.MESSAGE_NULL, MPI.MESSAGE_NO_PROC):
            say(type(one).fromhandle(one.handle) == one)
        say(type(message).fromint(message.toint()).recv())
        own.Free()
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [True] * 6 + ["body"] for rank in range(3)}


def test_objects_have_handles_of_c_and_those_are_at_their_addresses(tmp_path):
    script = """
        import ctypes
        own = MPI.Op.Create(lambda low, high, datatype: high)
        request = comm.Irecv(np.zeros(1), MPI.PROC_NULL)
        ones = [comm, comm.Dup(), MPI.SUM, own, request, MPI.ERRORS_RETURN, comm.Get_group()]
        handles = []
        for one in (*ones, MPI.COMM_NULL):
            cls = ctypes.c_uint32 if MPI._sizeof(one) == 4 else ctypes.c_uint64
            cell = cls.from_address(MPI._addressof(one))
            handles.append(cell.value)
            cell.value = 0  # changes nothing: the object does not live there
            say(cls.from_address(MPI._addressof(one)).value == MPI._handleof(one) == handles[-1])
        handles.append(MPI._handleof(MPI.INT))
        say((len(set(handles)), handles[2], handles[-2:], MPI.Op.fromint(own.toint()) == own))
    """
    said, _ = played(tmp_path, "complete:2", script)
    real = [REAL._handleof(one) for one in (REAL.SUM, REAL.COMM_NULL, REAL.INT)]
    assert said == {rank: [True] * 8 + [(9, real[0], real[1:], True)] for rank in range(2)}


def test_null_objects_are_their_own_copies(tmp_path):
    script = """
        import copy
        nulls = [vars(MPI)[name] for name in dir(MPI) if name.endswith("_NULL")]
        same = [copy.copy(one) is copy.deepcopy(one) is one for one in nulls]
        say([len(nulls), all(same)])
    """
    count = sum(name.endswith("_NULL") for name in dir(REAL))
    assert played(tmp_path, "complete:1", script)[0] == {0: [[count, True]]}


def test_null_objects_say_what_the_real_ones_say(tmp_path):
    script = """
        say((MPI.WIN_NULL.Get_name(), MPI.WIN_NULL.name))
        try:
            comm.Set_errhandler(MPI.ERRHANDLER_NULL)
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_ARG)
    """
    said, _ = played(tmp_path, "complete:2", script)
    assert said == {rank: [("MPI_WIN_NULL",) * 2, True] for rank in range(2)}
