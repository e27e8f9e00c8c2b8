"""Collectives: calls made by all members of a communicator.

Collectives are distributed algorithms over messages of the machine, which count like any message.
The modules:

* `collective`: a member's part in a call
* `member_trees`: the trees along which messages travel
* `algorithms`: the patterns of sends and receives
* `payloads`: the contents of messages
* `objects`, `buffers`: a communicator's calls; `plans`, `planned`: their nonblocking and persistent
  forms
"""

from mpinet.mpi.collectives.buffers import BufferCollectives
from mpinet.mpi.collectives.objects import ObjectCollectives


class Collectives(ObjectCollectives, BufferCollectives):
    """All collectives of a communicator within a group."""

    __slots__ = ()
