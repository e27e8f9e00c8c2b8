"""Operations of random programs: threads that call MPI next to their rank."""

from threading import Thread
from typing import Any

import numpy as np
from drawing import Program
from mpi4py import MPI


def threads(program: Program) -> None:
    """Threads of each rank exchange messages and collectives, each on its own communicator."""
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    number = program.draw.randint(1, 3)
    rounds = [program.draw.randint(1, 5) for _ in range(number)]
    comms = [program.comm.Dup() for _ in range(number)]
    found: list[Any] = [None] * number

    def work(place: int) -> None:
        comm, total, into = comms[place], np.zeros(3), np.zeros(3)
        rank, size = comm.Get_rank(), comm.Get_size()
        own = program.numbers(3, salt=place)
        for turn in range(rounds[place]):
            request = comm.Irecv(into, (rank - 1) % size, turn)
            comm.Send(own, (rank + 1) % size, turn)
            request.Wait()
            comm.Allreduce(into, total)
            own = own + into
        found[place] = own.tolist(), total.tolist(), comm.allgather((rank, place))

    started = [Thread(target=work, args=(place,)) for place in range(number)]
    for thread in started:
        thread.start()
    if program.draw.random() < 0.5:
        program.say("main", program.comm.allreduce(program.rank))
    for thread in started:
        thread.join()
    program.say(found)
    for comm in comms:
        comm.Free()


def tagged(program: Program) -> None:
    """Threads of one rank share a communicator, and tell their messages apart by tags."""
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    comm, number = program.comm, program.draw.randint(2, 4)
    to, source = program.shift()
    found: list[Any] = [None] * number

    def work(place: int) -> None:
        found[place] = comm.sendrecv((program.rank, place), to, place, None, source, place)

    started = [Thread(target=work, args=(place,)) for place in range(number)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    program.say(found)
