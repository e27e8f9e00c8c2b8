"""Datatypes: which bytes a message has, and which memory it may not touch."""

from random import Random

import numpy as np
import pytest
import shares
from launch.drivers import typemaps
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played

from mpinet.errors import UsageError
from mpinet.mpi.messages import layouts
from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.layouts import layout_of, spread
from mpinet.mpi.real import REAL

# ---- places of bytes


@pytest.mark.parametrize("at_once", [layouts.AT_ONCE, 16])
def test_layouts_put_each_byte_where_the_type_map_has_it(monkeypatch, at_once):
    monkeypatch.setattr(layouts, "AT_ONCE", at_once)
    for seed in shares.some(range(400), 4):
        draw, bits = Random(seed), np.random.default_rng(seed)
        made, count = typemaps.drawn(draw)
        layout, places = layout_of(made.datatype), made.of(count)
        reach = layout.reach(count)
        assert (reach.low, reach.high) == (places.min(), places.max() + 1)

        origin = int(8 - min(0, places.min()))
        memory = bits.integers(0, 256, origin + max(0, places.max()) + 9, np.uint8)
        address, there = memory.ctypes.data + origin, origin + places
        assert layout.read(address, count) == memory[there].tobytes()

        length = draw.randint(1, len(places))
        skipped = draw.randint(0, len(places) - length)
        seen = spread(*layout.pieces(skipped, length))
        assert (seen == places[skipped : skipped + length]).all()

        body, expected = bits.integers(0, 256, length, np.uint8), memory.copy()
        expected[there[:length]] = body
        layout.write(address, body.tobytes())
        assert (memory == expected).all()
        made.datatype.Free()


def test_a_datatype_that_gets_the_handle_of_a_freed_one_has_its_own_layout():
    memory, handles = np.arange(64, dtype=np.uint8), set()
    for step in range(2, 60):
        datatype = REAL.BYTE.Create_vector(2, 1, step).Commit()
        handles.add(datatype.handle)
        assert Buffer([memory, 1, datatype]).read() == bytes([0, step])
        datatype.Free()
    assert len(handles) < 58


def test_units_are_divided_where_a_run_is_too_long_for_one(monkeypatch):
    monkeypatch.setattr(layouts, "MOST_UNIT", 8)
    memory = np.arange(60, dtype=np.uint8)
    datatype = REAL.BYTE.Create_vector(3, 12, 20).Commit()
    expected = memory.reshape(3, 20)[:, :12].tobytes()
    assert Buffer([memory, 1, datatype]).read() == expected
    assert layout_of(datatype)._kind.itemsize == 4
    datatype.Free()


def test_a_datatype_of_too_many_runs_is_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(layouts, "MOST_RUNS", 99)
    datatype = REAL.BYTE.Create_vector(100, 1, 2).Commit()
    with pytest.raises(UsageError, match="100 separate runs of bytes, but mpinet allows at"):
        layout_of(datatype)
    datatype.Free()


COMPLEX = {
    "hvector": ("C_DOUBLE_COMPLEX.Create_hvector(3, 1, 24)", "d", [0, 1, 3, 4, 6, 7]),
    "hindexed": ("C_FLOAT_COMPLEX.Create_hindexed([1, 1], [0, 12])", "f4", [0, 1, 3, 4]),
    "struct": (
        "Datatype.Create_struct([1, 1], [0, 24], [MPI.DOUBLE, MPI.C_DOUBLE_COMPLEX])",
        "d",
        [0, 3, 4],
    ),
}


@pytest.mark.parametrize("kind", COMPLEX)
def test_complex_elements_at_any_byte_are_sent_and_received_as_they_lie(tmp_path, kind):
    built, code, places = COMPLEX[kind]
    said, _ = played(
        tmp_path,
        "complete:3",
        f"""
        kind = MPI.{built}.Commit()
        numbers, got, spread = np.arange(9, dtype={code!r}), np.zeros({len(places)}, {code!r}), None
        if rank == 0:
            comm.Send([numbers, 1, kind], 2)
            comm.Send(numbers[:{len(places)}].copy(), 2)
        if rank == 2:
            comm.Recv(got, 0)
            spread = np.full(9, -1, {code!r})
            comm.Recv([spread, 1, kind], 0)
            say((got.tolist(), spread.tolist()))
        """,
    )
    expected = np.full(9, -1)
    expected[places] = np.arange(len(places))
    assert said[2] == [(places, expected.tolist())]


# ---- memory that there is


ONE_TOO_MANY = """
alone = MPI.COMM_SELF
types = {
    "contiguous": MPI.INT.Create_contiguous(2),
    "vector": MPI.INT.Create_vector(2, 1, 2),
    "late": MPI.Datatype.Create_struct([1, 1], [8, 16], [MPI.INT, MPI.INT]),
    "resized": MPI.INT.Create_contiguous(2).Create_resized(-4, 16),
    "before": MPI.INT.Create_hindexed([1, 1], [0, -900]),
    "wide": MPI.INT.Create_hindexed([1, 1], [0, 1900]),
}
full = np.full(8, 7, "i4")
calls = {
    "Send": lambda given, kind: alone.Isend(given, 0),
    "Recv": lambda given, kind: alone.Sendrecv(full, 0, 0, given, 0, 0),
    "Irecv": lambda given, kind: alone.Irecv(given, 0),
    "Recv_init": lambda given, kind: alone.Recv_init(given, 0),
    "Sendrecv_replace": lambda given, kind: alone.Sendrecv_replace(given, 0, 0, 0, 0),
    "Bcast": lambda given, kind: comm.Bcast(given, 1),
    "Gather": lambda given, kind: alone.Gather(full, given),
    "Scatter": lambda given, kind: alone.Scatter(full, given),
    "Allgather": lambda given, kind: alone.Allgather(full, given),
    "Iallgatherv": lambda given, kind: alone.Iallgatherv(full, [given[0], [4], [0], kind]),
    "Alltoall": lambda given, kind: alone.Alltoall(full, given),
    "Alltoallw": lambda given, kind: alone.Alltoallw(
        [full, [8], [0], [MPI.INT]], [given[0], [4], [0], [kind]]
    ),
}
for name, kind in types.items():
    kind.Commit()
    for call, make in calls.items():
        whole = np.zeros(400, "i4")
        room = (max(kind.true_ub, kind.ub) // 4) if kind.true_ub < 100 else 3
        spec = [whole[100 : 100 + room], 4, kind]
        try:
            make(spec, kind)
            say((name, call, "no error"))
        except ValueError as error:
            words = "4 elements of 8 bytes exceed the buffer" in str(error)
            say((name, call, words and not whole.any()))
say("end")
"""


def test_elements_beyond_the_memory_are_an_error_of_every_call_and_touch_nothing(tmp_path):
    said, _ = played(tmp_path, "ring:3", ONE_TOO_MANY)
    for heard in said.values():
        assert heard.pop() == "end"
        assert len(heard) == 6 * 12
        assert {right for *_, right in heard} == {True}, heard


def test_columns_reach_beyond_their_row_but_not_beyond_the_array(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        rows = np.arange(12).reshape(3, 4)
        behind = memoryview(bytearray(96))[8:16]
        column = MPI.INT64_T.Create_vector(3, 1, 4).Commit()
        alone, got = MPI.COMM_SELF, np.zeros(3, int)
        alone.Sendrecv([rows[0, 1:], 1, column], 0, 0, got, 0, 0)
        alone.Sendrecv(got, 0, 0, [behind, 1, column], 0, 0)
        found = np.frombuffer(behind.obj, int)
        shown = np.lib.stride_tricks.as_strided(rows[0], (2,))
        alone.Sendrecv(-got, 0, 0, [shown, 1, column], 0, 0)
        errors = []
        for row in (rows[1, 1:], rows[0, 1:].copy(), rows[2]):
            try:
                alone.Send([row, 1, column], 0)
            except ValueError as error:
                errors.append(str(error))
        say((got.tolist(), found.tolist(), rows[:, 0].tolist(), errors))
        """,
    )
    column, found, left, errors = said[1][0]
    assert column == [1, 5, 9]
    assert found == [0, 1, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0]
    assert left == [-1, -5, -9]
    assert errors == [
        "message: 1 elements of 24 bytes exceed the buffer: they take bytes 0 to 72, but "
        f"the buffer has {there} bytes"
        for there in (24, 24, 32)
    ]


def test_a_datatype_that_is_not_committed_is_refused(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        made, found = MPI.INT.Create_vector(2, 1, 2), []
        for kind in (made, made.Dup().Commit(), made):
            try:
                comm.Isend([np.zeros(3, "i"), 1, kind], rank)
                found.append("sent")
            except MPI.Exception as error:
                found.append(error.Get_error_class() == MPI.ERR_TYPE)
        say(found)
        """,
    )
    assert said[2] == [[True, "sent", True]]


class OnDevice:
    """An array that shows its memory as that of a device, where only the real MPI looks."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.__cuda_array_interface__ = array.__array_interface__ | {"version": 3}


def test_memory_of_a_device_is_packed_by_the_real_mpi():
    array = np.arange(12, dtype="i4").reshape(3, 4)
    column = REAL.INT.Create_vector(3, 1, 4).Commit()
    body = Buffer([OnDevice(array), 1, column]).read()
    assert np.frombuffer(body, "i4").tolist() == [0, 4, 8]
    Buffer([OnDevice(array), 1, column], writable=True).write(
        (-np.frombuffer(body, "i4"))[:2].tobytes()
    )
    assert array[:, 0].tolist() == [0, -4, 8]
    with pytest.raises(ValueError, match="exceed the buffer"):
        Buffer([OnDevice(array), 2, column])
    column.Free()


# ---- reductions, files and windows


REDUCED = {
    "SUM": np.add,
    "PROD": np.multiply,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
    "LAND": np.logical_and,
    "LOR": np.logical_or,
    "LXOR": np.logical_xor,
}


def test_bytes_are_reduced_as_unsigned_numbers_as_mpi4py_takes_them(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        f"""
        own, got, kinds = np.array([1 + rank, 6, 0], np.uint8), np.zeros(3, np.uint8), []
        for name in {list(REDUCED)}:
            comm.Allreduce(own, got, getattr(MPI, name))
            say(got.tolist())
        note = lambda low, high, datatype: kinds.append(datatype == MPI.UNSIGNED_CHAR)
        look = MPI.Op.Create(note)
        for made in (np.array, bytearray, lambda array: memoryview(bytes(array))):
            look.Reduce_local(made(own), bytearray(3))
        say(kinds)
        """,
    )
    operands = np.array([[1, 6, 0], [2, 6, 0], [3, 6, 0]], np.uint8)
    for heard in said.values():
        assert heard.pop() == [True] * 3
        assert heard == [operation.reduce(operands).tolist() for operation in REDUCED.values()]


def test_a_function_of_a_scripts_own_sees_elements_as_they_lie_in_memory(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        flipped = MPI.INT.Create_hvector(3, 1, -4).Create_hindexed([1], [8]).Commit()
        def first_counts_most(low, high, datatype):
            one, two = np.frombuffer(low, "i4"), np.frombuffer(high, "i4")
            two[:] = two + one * [100, 10, 1]
        op = MPI.Op.Create(first_counts_most)
        own, got = np.array([1, 2, 3], "i4"), np.zeros(3, "i4")
        comm.Scan([own, 1, flipped], [got, 1, flipped], op)
        say(got.tolist())
        """,
    )
    assert said[0] == [[1, 2, 3]]
    assert said[1] == [[101, 22, 6]]


def test_a_view_may_span_more_than_any_memory(tmp_path):
    name = everyone(str(tmp_path / "sparse"))[0]
    said, _ = played(
        tmp_path,
        "ring:3",
        f"""
        wide = MPI.BYTE.Create_hindexed([2, 1], [3, 1 << 33]).Create_resized(0, 1 << 34).Commit()
        file = MPI.File.Open(comm, {name!r}, MPI.MODE_CREATE | MPI.MODE_RDWR)
        file.Set_view(8 * rank, MPI.BYTE, wide)
        file.Write_all(bytes([rank, 10 + rank, 20 + rank, 30 + rank]))
        file.Set_view()
        found = bytearray(24)
        file.Read_at_all(0, found)
        far = bytearray(1)
        file.Read_at_all((1 << 33) + 8 * rank, far)
        say((list(found), list(far), file.Get_size() - (1 << 34)))
        file.Close()
        """,
    )
    expected = [0] * 24
    for rank in range(3):
        expected[8 * rank + 3 : 8 * rank + 5] = [rank, 10 + rank]
    for rank in range(3):
        assert said[rank] == [(expected, [20 + rank], 20)]


def test_accesses_stay_in_attached_memory_on_both_sides(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        memory = np.zeros(64, np.uint8)
        window = MPI.Win.Create_dynamic(comm=comm)
        window.Attach(memory[16:48])
        places = comm.allgather(MPI.Get_address(memory))
        around, found = MPI.BYTE.Create_hindexed([1, 1], [0, -8]).Commit(), []
        for first in (16, 24, 47, 48):
            window.Lock(rank)
            try:
                window.Put(bytes([first, 7]), rank, [places[rank] + first, 1, around])
                window.Unlock(rank)
                found.append("done")
            except MPI.Exception as error:
                found.append(error.Get_error_class() == MPI.ERR_RMA_RANGE)
        say((found, np.flatnonzero(memory).tolist()))
        comm.Barrier()
        window.Detach(memory[16:48])
        window.Free()
        """,
    )
    assert said[2] == [([True, "done", "done", True], [16, 24, 39, 47])]
