"""Scripts whose processors reach one another outside of MPI: by sockets, in loops and threads."""

import re

import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock
from mpinet.mpi.world import world

pytestmark = pytest.mark.mpi

ASYNCIO = """
    import asyncio

    async def serve():
        server = await asyncio.start_server(print, "127.0.0.1", 0)
        comm.bcast(server.sockets[0].getsockname()[1])
        asyncio.ensure_future(beat())
        await server.serve_forever()

    async def beat():
        while True:
            await asyncio.sleep(0.05)

    if rank == 0:
        asyncio.run(serve())  # here
    else:
        comm.recv(source=comm.bcast(None) and 0)
"""

SELECTORS = """
    import selectors, socket

    if rank == 1:
        with socket.create_server(("127.0.0.1", 0)) as door:
            selector = selectors.DefaultSelector()
            selector.register(door, selectors.EVENT_READ)
            selector.select()  # here
    comm.Barrier()
"""


ALL_SERVE = """
    import asyncio, contextlib, threading, time

    async def serve():
        server = await asyncio.start_server(print, "127.0.0.1", 0)
        threading.Thread(target=wake, args=[asyncio.get_running_loop()], daemon=True).start()
        await server.serve_forever()

    def wake(loop):  # by the loop's own pair of sockets, which is no client's
        with contextlib.suppress(RuntimeError):  # when the loop has been closed
            while True:
                time.sleep(0.05)
                loop.call_soon_threadsafe(int)

    comm.Barrier()
    asyncio.run(serve())  # here
"""


@pytest.mark.parametrize(
    ("script", "processor"), [(ASYNCIO, 0), (SELECTORS, 1), (ALL_SERVE, r"\d")]
)
def test_a_processor_that_serves_nobody_while_others_wait_ends_the_run(
    tmp_path, monkeypatch, script, processor
):
    monkeypatch.setattr(world, "LOOKS", 300)
    monkeypatch.setattr(world, "LOOKS_AT_SLEEPERS", 600)
    with pytest.raises(Deadlock, match="Starvation after step") as ended:
        played(tmp_path, "ring:3", script)
    lines = (tmp_path / "script.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "# here" in text)
    assert re.search(
        rf"processor {processor}, .*script.py:{line}: polls in select", str(ended.value)
    )


PATIENT = """
    import asyncio, subprocess, sys, threading, time, socket

    async def serve():
        served = asyncio.Event()
        heard = []

        async def answer(reader, writer):
            heard.append(await reader.read())
            writer.close()
            if len(heard) == 5:
                served.set()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            thread = threading.Thread(target=ask, args=server.sockets[0].getsockname())
            thread.start()
            await served.wait()
        thread.join()
        return heard

    def ask(host, port):
        for number in range(5):
            time.sleep(0.2)
            with socket.create_connection((host, port)) as opened:
                opened.sendall(b"%d" % number)

    if rank == 0:
        say(asyncio.run(serve()))
        child = [sys.executable, "-c", "import time; time.sleep(0.8); print('child')"]
        say(subprocess.Popen(child, stdout=-1, stderr=-1, text=True).communicate()[0].strip())
    say(comm.allreduce(1))
"""


def test_a_server_with_clients_and_a_wait_for_a_child_go_on_however_long(tmp_path, monkeypatch):
    monkeypatch.setattr(world, "LOOKS", 300)
    said, _ = played(tmp_path, "ring:3", PATIENT)
    assert said == {0: [[b"0", b"1", b"2", b"3", b"4"], "child", 3], 1: [3], 2: [3]}


ASKING = """
    import asyncio, socket, threading, time

    async def serve(clients):
        answered = asyncio.Semaphore(0)

        async def answer(reader, writer):
            writer.write(b"to " + await reader.read())
            writer.close()
            answered.release()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            comm.bcast(server.sockets[0].getsockname())
            for _ in range(clients):
                await answered.acquire()

    async def ask(where):
        reader, writer = await asyncio.open_connection(*where)
        writer.write(b"%d" % rank)
        writer.write_eof()
        return (await reader.read()).decode()
"""


def test_processors_are_servers_and_clients_in_event_loops(tmp_path):
    script = """
    if rank == 0:
        asyncio.run(serve(size - 1))
        say(comm.reduce(rank))
    else:
        say(asyncio.run(ask(comm.bcast(None))))
        comm.reduce(rank)
    """
    said, outcome = played(tmp_path, "ring:5", ASKING + script)
    assert said == {rank: [f"to {rank}"] if rank else [10] for rank in range(5)}
    assert {account.kind for account in outcome.accounts} <= {"bcast", "reduce"}


def test_a_processor_waits_by_other_means_while_its_threads_reach_another_one(tmp_path):
    """Who waits for the end of a thread, or computes, does not keep the server from its turns."""
    script = """
    def client(where):
        time.sleep(0.1)
        heard.append(asyncio.run(ask(where)))

    heard = []
    if rank == 0:
        asyncio.run(serve(size - 1))
    else:
        thread = threading.Thread(target=client, args=[comm.bcast(None)])
        thread.start()
        if rank == 1:
            thread.join()
        while not heard:
            sum(range(1000))
        thread.join()
    say(heard)
    """
    said, _ = played(tmp_path, "ring:3", ASKING + script)
    assert said == {0: [[]], 1: [["to 1"]], 2: [["to 2"]]}


def test_a_server_has_patience_with_a_client_that_computes(tmp_path, monkeypatch):
    monkeypatch.setattr(world, "LOOKS", 50)
    script = """
    if rank == 0:
        asyncio.run(serve(1))
    else:
        where = comm.bcast(None)
        if rank == 1:
            end = time.monotonic() + 0.6
            while time.monotonic() < end:
                sum(range(1000))
            say(asyncio.run(ask(where)))
    """
    said, _ = played(tmp_path, "ring:3", ASKING + script)
    assert said == {0: [], 1: ["to 1"], 2: []}


LARGE = """
    import socket

    def received(opened, count):
        heard = bytearray()
        while len(heard) < count and (some := opened.recv(1 << 20)):
            heard += some
        return bytes(heard)

    large = bytes(range(256)) * 50_000  # more than any socket keeps
    if rank == 0:
        with socket.create_server(("127.0.0.1", 0)) as door:
            comm.bcast(door.getsockname())
            for _ in range(size - 1):
                with door.accept()[0] as peer:
                    peer.sendall(large)
                    say(received(peer, 6))
    else:
        with socket.create_connection(comm.bcast(None)) as opened:
            say(received(opened, len(large)) == large)
            with opened.makefile("wb") as file:
                file.write(b"thanks")
    say(comm.allreduce(1))
"""


def test_sockets_that_block_let_others_have_their_turns(tmp_path):
    said, _ = played(tmp_path, "ring:4", LARGE)
    assert said == {rank: [True, 4] if rank else [b"thanks"] * 3 + [4] for rank in range(4)}


def test_a_sockets_time_is_over_when_it_is(tmp_path):
    script = """
    import select, selectors, socket, time

    begun = time.monotonic()
    if rank == 0:
        with socket.create_server(("127.0.0.1", 0)) as door, selectors.DefaultSelector() as chosen:
            chosen.register(door, selectors.EVENT_READ)
            say(chosen.select(0.2))
            door.settimeout(0.2)
            try:
                door.accept()
            except TimeoutError as error:
                say(str(error))
            door.setblocking(False)
            try:
                door.accept()
            except BlockingIOError:
                say(round(time.monotonic() - begun, 1))
    comm.barrier()
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {0: [[], "timed out", said[0][2]], 1: [], 2: []}
    assert 0.4 <= said[0][2] < 5
