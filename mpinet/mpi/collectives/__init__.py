"""Collectives: calls that all members of a communicator make together.

They are distributed algorithms over messages of the machine, which count its steps like all
others. The files: a call as its members take part in it (`collective`), the trees that messages
follow (`member_trees`), the patterns of sending and receiving (`algorithms`) and what they carry
(`payloads`), and a communicator's calls for objects and for buffers, which can also be begun and
prepared.
"""

from mpinet.mpi.collectives.buffers import BufferCollectives
from mpinet.mpi.collectives.objects import ObjectCollectives


class Collectives(ObjectCollectives, BufferCollectives):
    """All collectives of a communicator within a group."""

    __slots__ = ()
