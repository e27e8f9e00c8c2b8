"""Scripts in which a processor serves a network: the others wait for their turns meanwhile."""

import pytest
from mpi.scripts.playing import played

from mpinet.errors import ProgramError
from mpinet.mpi.world import serving

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
    import asyncio, threading, time

    async def serve():
        server = await asyncio.start_server(print, "127.0.0.1", 0)
        threading.Thread(target=wake, args=[asyncio.get_running_loop()], daemon=True).start()
        await server.serve_forever()

    def wake(loop):  # by the loop's own pair of sockets, which is no client's
        while not loop.is_closed():
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
    monkeypatch.setattr(serving, "PATIENCE", 0.5)
    told = f"Processor {processor}, .*script.py:.*A network server waits for clients while other"
    with pytest.raises(ProgramError, match=told) as ended:
        played(tmp_path, "ring:3", script)
    lines = (tmp_path / "script.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "# here" in text)
    assert f"script.py:{line}" in str(ended.value)


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
    monkeypatch.setattr(serving, "PATIENCE", 0.5)
    said, _ = played(tmp_path, "ring:3", PATIENT)
    assert said == {0: [[b"0", b"1", b"2", b"3", b"4"], "child", 3], 1: [3], 2: [3]}
