"""Collectives of buffers: a communicator's upper-case calls, generated from plans.

Each plan yields three calls: blocking (`Bcast`), nonblocking (`Ibcast`) and persistent
(`Bcast_init`).
"""

from mpinet.mpi.collectives import plans
from mpinet.mpi.collectives.algorithms import CollectiveCalls
from mpinet.mpi.collectives.planned import Planned
from mpinet.mpi.messages.buffers import Blocks, TypedBlocks, VectorBlocks


class BufferCollectives(CollectiveCalls):
    """Collectives of buffers, as in `mpi4py.MPI.Intracomm`."""

    __slots__ = ()

    Barrier = Planned(plans.barrier)
    Bcast = Planned(plans.bcast)
    Gather = Planned(plans.gather, Blocks)
    Gatherv = Planned(plans.gather, VectorBlocks)
    Scatter = Planned(plans.scatter, Blocks)
    Scatterv = Planned(plans.scatter, VectorBlocks)
    Allgather = Planned(plans.allgather, Blocks)
    Allgatherv = Planned(plans.allgather, VectorBlocks)
    Alltoall = Planned(plans.alltoall, Blocks)
    Alltoallv = Planned(plans.alltoall, VectorBlocks)
    Alltoallw = Planned(plans.alltoall, TypedBlocks)
    Reduce = Planned(plans.reduce)
    Allreduce = Planned(plans.allreduce)
    Reduce_scatter_block = Planned(plans.reduce_scatter_block)
    Reduce_scatter = Planned(plans.reduce_scatter)
    Scan = Planned(plans.scan, True)
    Exscan = Planned(plans.scan, False)
