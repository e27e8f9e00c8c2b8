"""MPI's functions of C, found by ctypes as compiled code does: they are the emulated MPI's."""

import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played

from mpinet.errors import Deadlock
from mpinet.mpi.real import REAL

pytestmark = pytest.mark.mpi

LIBRARY = """
    import ctypes
    from pathlib import Path

    names = (line.split()[-1] for line in open("/proc/self/maps") if ".so" in line)
    FILE = next(name for name in names if Path(name).name.startswith(("libmpi.", "libmpich.")))
    C = ctypes.CDLL(FILE)

    def handle(thing):
        cls = ctypes.c_uint32 if MPI._sizeof(thing) == 4 else ctypes.c_uint64
        cell = cls.from_address(MPI._addressof(thing))
        assert cell.value == MPI._handleof(thing)
        return cell

    WORLD, DOUBLE, INT = handle(comm), handle(MPI.DOUBLE), handle(MPI.INT64_T)
"""


def test_code_of_c_sends_receives_and_combines(tmp_path):
    script = """
    def at(array):
        return ctypes.c_void_p(array.ctypes.data)

    left, right = (rank - 1) % size, (rank + 1) % size
    sent, got, number = np.full(2, rank + 0.5), np.zeros(2), ctypes.c_int()
    requests = (type(handle(MPI.REQUEST_NULL)) * 2)()
    C.MPI_Isend(at(sent), 2, DOUBLE, right, 7, WORLD, ctypes.byref(requests))
    second = ctypes.c_void_p(ctypes.addressof(requests) + ctypes.sizeof(requests) // 2)
    C.MPI_Irecv(at(got), 2, DOUBLE, left, 7, WORLD, second)
    statuses = (ctypes.c_char * (2 * MPI._sizeof(MPI.Status)))()
    say(C.MPI_Waitall(2, ctypes.byref(requests), ctypes.byref(statuses)))
    say((got.tolist(), [one == MPI._handleof(MPI.REQUEST_NULL) for one in requests]))
    told = MPI.Status()
    bytes_of = MPI._sizeof(MPI.Status)
    ctypes.memmove(MPI._addressof(told), ctypes.addressof(statuses) + bytes_of, bytes_of)
    say((told.source, told.tag, told.Get_count(MPI.DOUBLE)))

    C.MPI_Comm_rank(WORLD, ctypes.byref(number))
    own, found = np.array([number.value + 1]), np.zeros(1, np.int64)
    every = np.zeros(size, np.int64)
    say(C.MPI_Reduce(at(own), at(found), 1, INT, handle(MPI.MAX), 1, WORLD))
    C.MPI_Gather(at(own), 1, INT, at(every), 1, INT, 2, WORLD)
    C.MPI_Bcast(at(every), size, INT, 2, WORLD)
    say((found.tolist(), every.tolist()))
    in_place = ctypes.c_void_p(int(MPI.IN_PLACE))
    product = MPI.Op.Create(lambda one, other, _: np.multiply(
        np.frombuffer(one, np.int64), np.frombuffer(other, np.int64), np.frombuffer(other, np.int64)
    ))
    C.MPI_Allreduce(in_place, at(own), 1, INT, handle(product), WORLD)
    say(own.tolist())
    say(C.MPI_Send(at(own), 1, INT, size, 0, WORLD))
    """
    said, outcome = played(tmp_path, "ring:4", LIBRARY + script)
    for rank in range(4):
        left = (rank - 1) % 4
        assert said[rank] == [
            REAL.SUCCESS,
            ([left + 0.5] * 2, [True, True]),
            (left, 7, 2),
            REAL.SUCCESS,
            ([4 if rank == 1 else 0], [1, 2, 3, 4]),
            [24],
            REAL.ERR_RANK,
        ]
    lines = {account.kind: account.messages for account in everyone(outcome.kinds)[0]}
    assert lines["MPI_Isend"] == 4


def test_compiled_code_waits_while_others_run(tmp_path):
    script = """
    import numba

    function = C.MPI_Sendrecv
    world, double = WORLD.value, DOUBLE.value

    @numba.njit
    def shifted(turns, value, left, right):
        here, there, status = np.full(1, value), np.zeros(1), np.zeros(64, np.int8)
        for _ in range(turns):
            function(here.ctypes.data, 1, double, right, 0, there.ctypes.data, 1, double, left, 0,
                     world, status.ctypes.data)
            here[0] = there[0]
        return here[0], status[0]

    say(shifted(size + 1, rank + 0.25, (rank - 1) % size, (rank + 1) % size)[0])
    """
    said, _ = played(tmp_path, "ring:3", LIBRARY + script)
    assert said == {rank: [(rank - 1) % 3 + 0.25] for rank in range(3)}


def test_a_deadlock_in_code_of_c_names_the_scripts_line(tmp_path):
    script = "C.MPI_Recv(None, 0, INT, 1 - rank, 5, WORLD, None)"
    with pytest.raises(Deadlock, match=r"script.py:\d+: waits in MPI_Recv since step 0") as caught:
        played(tmp_path, "complete:2", LIBRARY + f"\n    {script}")
    assert str(caught.value).count("waits in MPI_Recv") == 2


def test_the_real_library_takes_no_handle_for_a_communicator_of_its_own(tmp_path):
    script = """
    real = ctypes.PYFUNCTYPE(ctypes.c_int, type(WORLD), ctypes.c_void_p)(("MPI_Comm_rank", C))
    number = ctypes.c_int()
    say(MPI.Get_error_class(real(WORLD, ctypes.addressof(number))))
    try:
        C.MPI_Scan
    except NotImplementedError as error:
        say(str(error))
    """
    said, _ = played(tmp_path, "complete:2", LIBRARY + script)
    refused = "MPI_Scan is not part of the emulated MPI."
    assert said == {rank: [REAL.ERR_COMM, refused] for rank in range(2)}
