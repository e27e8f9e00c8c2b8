"""The page on clusters, from nothing to a resumed run on three hosts, as it is written."""

import json
import os
import re

from cluster.conftest import alone, has_state, library_named, nothing_is_left
from cluster.hosts import CHECKOUT, Hosts, wait_until
from launch.conftest import TIME_LIMIT

PAGE = (CHECKOUT / "docs/how-to/clusters.md").read_text()
SECTION = PAGE.partition("## From nothing to a resumed run on three hosts\n")[2].partition("\n## ")[
    0
]
BEFORE, AFTER = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
(SAID,) = re.findall(r"```text\n(.*?)\n```", SECTION, re.DOTALL)


def test_three_hosts_from_nothing_to_a_resumed_run(hosts: Hosts) -> None:
    path = f"{library_named('openmpi').mpirun.parent}:{os.environ['PATH']}"
    *preparations, long_run = BEFORE.strip().splitlines()
    for line in preparations:
        done = hosts.run(1, "bash", "-c", line, PATH=path)
        assert done.returncode == 0, done.stderr
    for _ in range(5):  # where the job is over before the loss it is run again
        hosts.restore()
        job = hosts.start(1, "bash", "-c", long_run, PATH=path)
        wait_until(lambda job=job: has_state(hosts) or job.poll() is not None, TIME_LIMIT)
        hosts.all[2].die()
        _, said = job.communicate(timeout=TIME_LIMIT)
        if job.returncode != 0:
            break
    assert (job.returncode != 0, SAID in said) == (True, True), said
    assert nothing_is_left(hosts) == []
    for line in AFTER.strip().splitlines():
        done = hosts.run(1, "bash", "-c", line, PATH=path)
        assert done.returncode == 0, done.stderr
    found = json.loads((hosts.shared / "found.json").read_text())
    assert (found["ranks"], found["digest"]) == (4, alone("flood", "ring:400")["digest"])
