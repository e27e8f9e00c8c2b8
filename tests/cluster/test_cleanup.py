"""Hosts end with what has made them, and leave nothing on this machine."""

import signal
import subprocess
import sys
from pathlib import Path

from cluster.hosts import CHECKOUT, Hosts, wait_until

MAKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from cluster.hosts import Hosts
hosts = Hosts(2)
print(*(host.pid for host in hosts.all.values()), hosts.shared.parent, flush=True)
time.sleep(100)
"""


def test_hosts_end_with_a_maker_that_is_killed(machine: Hosts) -> None:
    words = [sys.executable, "-c", MAKER, CHECKOUT / "tests"]
    maker = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    *pids, folder = maker.stdout.readline().split()
    assert len(pids) == 2
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}/ns/pid").exists() for pid in pids))
    Hosts(1).down()  # deletes what the killed one could not
    assert not Path(folder).exists()
