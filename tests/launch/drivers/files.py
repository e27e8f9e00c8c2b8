"""Programs of files: each prints what does not depend on who comes first.

``files.py``: a matrix that is written in blocks and read in rows, interleaved records, a log by
rank, positions that all share, numbers of bytes at the end, modes and their errors.
"""

import os
import tempfile

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
WRITE = MPI.MODE_CREATE | MPI.MODE_RDWR
FOLDER = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)


def opened(name: str, amode: int = WRITE) -> MPI.File:
    """A file in the folder of all."""
    return MPI.File.Open(comm, os.path.join(FOLDER, name), amode)


def matrix() -> object:
    """A matrix is written in blocks of columns, and read in rows."""
    columns = np.arange(6.0 * 3).reshape(6, 3) + 100 * rank
    block = MPI.DOUBLE.Create_subarray([6, 3 * size], [6, 3], [0, 3 * rank]).Commit()
    file = opened("matrix")
    file.Set_view(0, MPI.DOUBLE, block)
    file.Write_all(columns)
    file.Set_view(0, MPI.DOUBLE)
    row = np.zeros(3 * size)
    file.Read_at_all(rank * 3 * size, row)
    file.Close()
    block.Free()
    return row.tolist()


def records() -> object:
    """Records that lie in turn, each rank's behind a header of all."""
    file = opened("records")
    if rank == 0:
        file.Write_at(0, b"HEAD")
    kind = MPI.INT.Create_vector(1, 2, 2).Create_resized(0, 8 * size).Commit()
    file.Set_view(4 + 8 * rank, MPI.INT, kind)
    for number in range(3):
        file.Write(np.array([rank, number], "i"))
    comm.Barrier()
    mine = file.Get_position(), file.Get_byte_offset(3)
    file.Set_view()
    text = bytearray(file.Get_size())
    file.Read(text)
    file.Seek(-8, MPI.SEEK_END)
    last = np.zeros(2, "i")
    status = MPI.Status()
    file.Read([last, 2, MPI.INT], status)
    counts = status.Get_count(MPI.INT), status.Get_elements(MPI.BYTE)
    file.Read(last, status)
    file.Close()
    return mine, bytes(text[:4]), np.frombuffer(text, "i", offset=4).tolist(), last.tolist(), counts


def log() -> object:
    """Lines of different lengths, by rank."""
    file = opened("log")
    for number in range(2):
        file.Write_ordered(f"line {number} of {rank} {'x' * rank}\n".encode())
    position = file.Get_position_shared()
    comm.Barrier()
    file.Seek_shared(0, MPI.SEEK_SET)
    line = bytearray(9 + rank + 2)
    file.Read_ordered(line)
    file.Close()
    with open(os.path.join(FOLDER, "log")) as lines:
        return position, bytes(line), lines.read()


def shared() -> object:
    """Each takes another number of a file, whoever comes first."""
    file = opened("numbers")
    file.Set_view(0, MPI.INT)
    if rank == 0:
        file.Write_at(0, np.arange(2 * size, dtype="i"))
    comm.Barrier()
    taken = np.zeros(2, "i")
    file.Read_shared(taken[:1])
    request = file.Iread_shared(taken[1:])
    request.Wait()
    file.Close()
    return sorted(number for both in comm.allgather(taken.tolist()) for number in both)


def beginnings() -> object:
    """Accesses that are begun, and ended later."""
    file = opened("begun")
    file.Iwrite_at(rank * 4, np.array([rank], "i")).Wait()
    comm.Barrier()
    found = np.zeros(size, "i")
    file.Read_at_all_begin(0, found)
    comm.Barrier()
    status = MPI.Status()
    file.Read_at_all_end(found, status)
    beyond = np.full(2, -1, "i")
    file.Read_at(4 * size - 4, beyond, status)
    file.Close()
    return found.tolist(), beyond.tolist(), status.Get_count(MPI.INT)


def errors() -> object:
    """What cannot be done, and with which class of error."""
    said = []

    def tried(work, *arguments) -> None:
        try:
            work(*arguments)
        except MPI.Exception as error:
            said.append(MPI.Get_error_string(error.Get_error_class()).split(":")[0])

    tried(opened, "nothing", MPI.MODE_RDONLY)
    tried(opened, "log", MPI.MODE_RDONLY | MPI.MODE_WRONLY)
    tried(opened, "log", WRITE | MPI.MODE_EXCL)
    file = opened("log", MPI.MODE_RDONLY)
    tried(file.Write, b"no")
    file.Close()
    file = opened("gone", WRITE | MPI.MODE_DELETE_ON_CLOSE)
    file.Preallocate(10)
    file.Set_size(7)
    said.append(file.size)
    file.Close()
    said.append(os.path.exists(os.path.join(FOLDER, "gone")))
    return said


for program in (matrix, records, log, shared, beginnings, errors):
    print(rank, program.__name__, program())
