"""Plain and native code: one result, whenever a job goes over from one to the other."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from serial.native.tossing import plain, tossed

import mpinet

JOBS: dict[str, Callable[[], Any]] = {
    "broadcast": lambda: mpinet.broadcast("torus:4x4"),
    "route": lambda: mpinet.route("hypercube:6"),
    "load": lambda: mpinet.load("torus:4x4", rate="0.1", steps=200, warmup=50),
    "replay": lambda: mpinet.replay(
        "allreduce:ring,1MB", on="torus:4x4", latency="50", time_byte="1"
    ),
    "flood": lambda: mpinet.flood("debruijn:4"),
    "ascend": lambda: mpinet.ascend("hypercube:4", operator="sum"),
    "gossip": lambda: mpinet.gossip("ring:8"),
    "scatter": lambda: mpinet.scatter("ring:9"),
    "show": lambda: mpinet.show("mesh:5x7", distances=True),
    "adaptive": lambda: mpinet.load(
        "hyperx:3x3,hosts=2", routing="dimwar", rate="0.3", warmup=20, steps=60
    ),
}


@cache
def in_plain_python(name: str) -> str:
    """The digest of a job whose every call is plain."""
    with plain():
        return JOBS[name]().digest


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", JOBS)
def test_no_digest_depends_on_when_a_job_goes_over(name: str, seed: int) -> None:
    with tossed(seed) as shown:
        digest = JOBS[name]().digest
    assert digest == in_plain_python(name) == JOBS[name]().digest
    assert {"native", "plain"} <= shown


def test_calls_are_given_up() -> None:
    seen: set[str] = set()
    for seed in range(20):
        with tossed(seed) as shown:
            assert JOBS["load"]().digest == in_plain_python("load")
        seen |= shown
        if seen == {"native", "plain", "given up"}:
            return
    raise AssertionError(seen)
