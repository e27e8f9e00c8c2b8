"""Files: which bytes come where, in which order, and what is said of calls that do not match."""

import os
from pathlib import Path

import numpy as np
import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played
from mpi4py import MPI

from mpinet.errors import Deadlock, ProgramError

pytestmark = pytest.mark.mpi


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that all ranks know."""
    return Path(everyone(str(tmp_path))[0])


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_the_highest_processor_writes_last_and_nobody_makes_a_step(tmp_path, folder, mapping):
    script = f"""
        file = MPI.File.Open(comm, {str(folder / mapping)!r}, MPI.MODE_CREATE | MPI.MODE_RDWR)
        file.Write_at(2 * rank, bytes([65 + rank]) * 5)
        found = bytearray(4)
        file.Read_at(2 * rank, found)
        file.Write_shared(bytes([97 + rank]))
        say((bytes(found), file.Get_size()))
        file.Close()
    """
    said, outcome = played(tmp_path, "ring:6", script, mapping=mapping)
    expected = bytearray(15)
    for rank in range(6):
        expected[2 * rank : 2 * rank + 5] = bytes([65 + rank]) * 5
    assert said == {rank: [(bytes(expected[2 * rank : 2 * rank + 4]), 15)] for rank in range(6)}
    assert (folder / mapping).read_bytes() == b"abcdef" + bytes(expected[6:])
    assert outcome.steps == 0


def test_views_show_the_bytes_that_their_datatypes_name(tmp_path, folder):
    """The places of elements are those that NumPy's slices name."""
    script = f"""
        file = MPI.File.Open(comm, {str(folder / "grid")!r}, MPI.MODE_CREATE | MPI.MODE_RDWR)
        kinds = [
            MPI.SHORT.Create_subarray([6, 10], [4, 3], [1, 2 * rank]),
            MPI.SHORT.Create_vector(3, 2, 4).Create_resized(0, 40),
            MPI.SHORT.Create_indexed([1, 3], [7, 1]).Create_resized(0, 20),
        ]
        padded = MPI.LONG_DOUBLE.Create_vector(3, 1, 2).Commit()
        file.Set_view(0, MPI.LONG_DOUBLE, padded)  # of 16 bytes the real MPI unpacks 10
        file.Write_at_all(0, np.arange(6, dtype=np.longdouble) / 3)
        file.Set_view(0, MPI.LONG_DOUBLE)
        file.Read_at_all(0, longs := np.zeros(11, np.longdouble))
        say((longs[[0, 2, 4, 5, 7, 9]] * 3).astype(float).tolist())
        file.Set_view()
        file.Set_size(0)
        if rank == 0:
            file.Write_at(0, np.arange(60, dtype=np.int16))
        comm.Barrier()
        for kind in kinds:
            file.Set_view(0, MPI.SHORT, kind.Commit())
            found = np.zeros(12, np.int16)
            file.Read_all(found)
            say(found.tolist())
        file.Set_view(2, MPI.SHORT, kinds[1])
        file.Seek(0, MPI.SEEK_END)
        say((file.Get_position(), file.Get_byte_offset(7)))
        file.Close()
    """
    said, _ = played(tmp_path, "complete:3", script)
    grid = np.arange(60)
    vector = np.concatenate([grid[at : at + 2] for at in (0, 4, 8, 20, 24, 28)])
    indexed = np.concatenate([[10 * at + 7, *range(10 * at + 1, 10 * at + 4)] for at in range(3)])
    seen = [at for copy in range(3) for at in (0, 1, 4, 5, 8, 9) if 20 * copy + at + 1 < 60]
    for rank in range(3):
        window = grid.reshape(6, 10)[1:5, 2 * rank : 2 * rank + 3].ravel()
        assert said[rank][0] == list(range(6))
        assert said[rank][1:4] == [window.tolist(), vector.tolist(), indexed.tolist()]
        assert said[rank][4] == (len(seen), 2 + 2 * (20 + 1))


def test_a_call_of_all_that_somebody_does_not_make_is_a_deadlock_with_its_line(tmp_path, folder):
    script = f"""
        file = MPI.File.Open(comm, {str(folder / "file")!r}, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        if rank != 1:
            file.Write_all(b"x")
        else:
            comm.recv(source=0)
    """
    with pytest.raises(Deadlock) as stuck:
        played(tmp_path, "ring:3", script)
    said = str(stuck.value)
    assert "waits in Write_all since step 0 for rank 1 to call File.Write_all" in said
    assert "waits in recv" in said


def test_calls_of_all_that_do_not_match_are_named(tmp_path, folder):
    script = f"""
        file = MPI.File.Open(comm, {str(folder / "file")!r}, MPI.MODE_CREATE | MPI.MODE_RDWR)
        file.Set_size(3) if rank == 2 else file.Sync()
    """
    with pytest.raises(ProgramError, match=r"rank 0 calls File\.Sync, rank 2 File\.Set_size\."):
        played(tmp_path, "ring:3", script)


def test_a_file_that_cannot_be_opened_is_open_nowhere(tmp_path, folder):
    before = len(os.listdir("/proc/self/fd"))
    script = f"""
        for name, mode in (("none", MPI.MODE_RDONLY), ("", MPI.MODE_RDWR), ("new", MPI.MODE_RDWR)):
            mode |= MPI.MODE_CREATE * (name == "new" and rank != 1)
            try:
                MPI.File.Open(comm, {str(folder)!r} + "/" + name, mode)
            except MPI.Exception as error:
                say(error.Get_error_class())
    """
    said, _ = played(tmp_path, "ring:3", script)
    expected = [MPI.ERR_NO_SUCH_FILE, MPI.ERR_BAD_FILE, MPI.ERR_AMODE]
    assert said == {rank: expected for rank in range(3)}
    assert len(os.listdir("/proc/self/fd")) == before
