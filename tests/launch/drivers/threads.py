"""Random programs of threads: ``threads.py FIRST COUNT`` runs those of COUNT seeds.

A program is a list of operations, in an order that all ranks know: messages between two threads,
also of one rank, collectives of the threads with one number, sleeps, and items of a queue from one
thread of a rank to another. Every thread does its own operations in this order. So each of them
comes to its end, whatever the threads' speeds, and all that ranks print is known before.
"""

import queue
import random
import subprocess
import sys
import threading
import time

from mpi4py import MPI

THREADS, OPERATIONS = 4, 40

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
rings = [comm.Dup() for _ in range(THREADS)]
for ring in rings:  # mpi4py holds a lock while a communicator's first reduction duplicates it
    ring.allreduce(0)
queues: dict = {}

SENDS = {
    "send": lambda body, to, tag: comm.send(body, to, tag),
    "ssend": lambda body, to, tag: comm.ssend(body, to, tag),
    "isend": lambda body, to, tag: comm.isend(body, to, tag).wait(),
    "issend": lambda body, to, tag: comm.issend(body, to, tag).wait(),
    "test": lambda body, to, tag: tested(comm.isend(body, to, tag)),
}


def tested(request):
    """Ask for the end of a request until it comes."""
    while True:
        done, body = request.test()
        if done:
            return body
        time.sleep(0.001)


def probed(source, tag):
    """Receive a message that a probe has found."""
    status = MPI.Status()
    comm.probe(MPI.ANY_SOURCE, tag, status)
    assert status.source == source
    return comm.recv(None, source, tag)


RECEIVES = {
    "recv": lambda source, tag: comm.recv(None, source, tag),
    "any": lambda source, tag: comm.recv(None, MPI.ANY_SOURCE, tag),
    "irecv": lambda source, tag: comm.irecv(None, source, tag).wait(),
    "waitany": lambda source, tag: MPI.Request.waitany([comm.irecv(None, source, tag)])[1],
    "test": lambda source, tag: tested(comm.irecv(None, source, tag)),
    "probe": probed,
    "mprobe": lambda source, tag: comm.mprobe(source, tag).recv(),
}


def drawn(draw: random.Random, number: int) -> tuple:
    """An operation: its kind, the threads (rank, number) that take part, and how."""
    thread = draw.randrange(size), draw.randrange(THREADS)
    others = [(one, two) for one in range(size) for two in range(THREADS) if (one, two) != thread]
    kind = draw.choices(["message", "ring", "queue", "sleep", "child"], [12, 2, 3, 3, 0.2])[0]
    if kind == "message":
        how = draw.choice(sorted(SENDS)), draw.choice(sorted(RECEIVES))
        return kind, [thread, draw.choice(others)], how
    if kind == "ring":
        return kind, [(one, thread[1]) for one in range(size)], draw.choice(["barrier", "sum"])
    if kind == "queue":
        return kind, [thread, draw.choice([one for one in others if one[0] == thread[0]])], ""
    return kind, [thread], draw.random() / 50


def done(number: int, kind: str, threads: list, how, own: tuple):
    """Do a thread's part in an operation; what it finds."""
    if kind == "sleep":
        return time.sleep(how)
    if kind == "child":
        return subprocess.run(["sleep", str(how)], check=True).returncode
    if kind == "ring":
        ring = rings[own[1]]
        return ring.barrier() if how == "barrier" else ring.allreduce(number + rank)
    first, second = threads
    if kind == "queue":
        line = queues.setdefault(number, queue.Queue())
        return line.put(number) if own == first else line.get()
    if own == first:
        return SENDS[how[0]](("body", number), second[0], number)
    return RECEIVES[how[1]](first[0], number)


def own_operations(operations: list, thread: int) -> list[int]:
    """The numbers of the operations in which a thread of this rank takes part."""
    return [number for number, (_, ends, _) in enumerate(operations) if (rank, thread) in ends]


def program(seed: int) -> None:
    """Run the program of a seed."""
    draw = random.Random(seed)
    operations = [drawn(draw, number) for number in range(OPERATIONS)]
    begins = [
        min([draw.randrange(OPERATIONS // 4), *own_operations(operations, thread)])
        for thread in range(THREADS)
    ]
    found: dict = {}
    queues.clear()
    threads = []

    def work(thread: int) -> None:
        for number, (kind, ends, how) in enumerate(operations):
            if thread == 0:
                for one in range(1, THREADS):
                    if begins[one] == number:
                        threads.append(threading.Thread(target=work, args=[one]))
                        threads[-1].start()
            if (rank, thread) in ends:
                found[number, thread] = done(number, kind, ends, how, (rank, thread))

    work(0)
    for thread in threads:
        thread.join()
    print("program", seed, rank, sorted(found.items()), flush=True)
    comm.barrier()


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    for seed in range(first, first + count):
        program(seed)
