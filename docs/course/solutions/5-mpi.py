# %% exercise 5.1
def hops_of_a_ring(q):
    """Return the hops of ring.py on hypercube:q, on shortest ways."""
    return sum((r ^ (r + 1) % 2**q).bit_count() for r in range(2**q))


# %% exercise 5.2
def gray(i):
    """Return the i-th number of a Gray code: gray(i) and gray(i + 1) differ in one bit, and so do the last number and the first."""
    return i ^ i >> 1


# %% exercise 5.3
GRAY_RING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
code = [i ^ i >> 1 for i in range(comm.size)]
place = code.index(comm.rank)
following, before = code[(place + 1) % comm.size], code[place - 1]
token = comm.sendrecv(comm.rank, following, source=before)
assert token == before
print(comm.rank, following)
"""


# %% exercise 5.4
DOUBLING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
total, bit = comm.rank + 1, 1
while bit < comm.size:
    total += comm.sendrecv(total, comm.rank ^ bit, source=comm.rank ^ bit)
    bit *= 2
print(comm.rank, total)
"""


# %% exercise 5.5
MEETING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank % 2 == 0:
    comm.send(comm.rank, dest=comm.rank ^ 1)
other = comm.recv(source=comm.rank ^ 1)
if comm.rank % 2 == 1:
    comm.send(comm.rank, dest=comm.rank ^ 1)
print(comm.rank, other)
"""
