"""Check that a run fits into the memory of its hosts, on all ranks together, before the run begins.

Every rank reports its host and the host's free memory. Rank 0 adds up the needs by host. Then all
ranks raise the same error, or none does.
"""

from __future__ import annotations

import json
import platform
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mpinet.base.memory import address_space_left, allowance, in_units, memory_left
from mpinet.errors import TooLarge
from mpinet.machine.transport import Local

MOST_HOSTS = 2**20
"""Largest number of hosts in an advice."""

MOST_HERE = 256
"""Largest number of ranks per host in an advice, unless the host already runs more ranks."""


@dataclass(frozen=True)
class Need:
    """Memory needed by a run."""

    most: int
    """Bytes needed by the rank with the largest need."""
    once: int = 0
    """Bytes of `most` needed by this rank alone, for example for the queue at a root."""

    def of(self, ranks: int) -> int:
        """Return the bytes needed by `ranks` ranks of a host, among them the neediest one."""
        return ranks * self.most - (ranks - 1) * self.once


Needs = Callable[[int], Need]
"""Function from the number of ranks to the memory needed per rank."""


@dataclass(frozen=True)
class Host:
    """A host of this run."""

    name: str
    """Name of the host."""
    ranks: int
    """Number of ranks on the host."""
    left: int
    """Bytes still available to all ranks of the host together."""
    process: int | None
    """Bytes of address space still available to each rank; None without a limit."""

    def holds(self, need: Need, ranks: int) -> bool:
        """Return True if the host has room for `ranks` ranks with this need."""
        whole = need.of(ranks) <= self.left
        return whole and (self.process is None or need.most <= self.process)

    def lacking(self, need: Need) -> float:
        """Return the ratio of needed to available bytes; above 1, the ranks do not fit."""
        whole = need.of(self.ranks) / max(1, self.left)
        return whole if self.process is None else max(whole, need.most / max(1, self.process))


def require_room(transport: Local, needs: Needs, what: str) -> None:
    """Raise on every rank if the run needs more memory than is available (collective).

    The user's settings take precedence (`mpinet.base.memory.allowing`): a memory limit holds even
    if more memory is free, and with force nothing is raised.

    Parameters
    ----------
    transport : Local
        The ranks.
    needs : callable
        ``needs(ranks)``, with the same result on all ranks.
    what : str
        Subject of the error message, in the singular.

    Raises
    ------
    TooLarge
        A host has too little memory. The message states the needed memory, the available memory and
        a sufficient number of ranks or hosts.
    """
    said = allowance()
    if said.force:
        return
    # Every rank computes the same need from the options, before any allocation.
    need = needs(transport.size)
    told = json.dumps([platform.node(), memory_left(), address_space_left()])
    gathered = transport.gather(told.encode())
    text = ""
    # One rank decides for all: hosts report different amounts, and an error on some ranks only
    # would hang the others.
    if transport.rank == 0 or len(gathered) == 1:
        hosts = list(_hosts(map(json.loads, gathered), said.limit))
        worst = max(hosts, key=lambda host: host.lacking(need))
        if not worst.holds(need, worst.ranks):
            text = _refusal(what, need, worst, len(hosts), said.limit, needs)
    text = transport.share(text.encode()).decode()
    if text:
        raise TooLarge(text)


def _hosts(told: Iterable[tuple[str, int, int | None]], limit: int | None) -> Iterable[Host]:
    """Yield the hosts, from the reports of their ranks."""
    by_name: dict[str, list[tuple[int, int | None]]] = {}
    for name, left, process in told:
        by_name.setdefault(name, []).append((left, process))
    for name, ranks in by_name.items():
        # Ranks of a host measure at different moments; the smallest report is the safe one.
        left = min(left for left, _ in ranks)
        limits = [process for _, process in ranks if process is not None]
        left = left if limit is None else min(left, limit)
        yield Host(name, len(ranks), left, min(limits, default=None))


def _refusal(what: str, need: Need, host: Host, hosts: int, limit: int | None, needs: Needs) -> str:
    """Return the error message: needed memory, available memory and advice."""
    by_process = host.process is not None and host.process * host.ranks < host.left
    needed, there_is = need.of(host.ranks), host.left
    if by_process:
        needed, there_is = need.most, host.process or 0
    where = f"on {host.name}" if hosts > 1 else "here"
    here = f" {where} for {host.ranks} ranks" if host.ranks > 1 and not by_process else ""
    if by_process:
        has = f"a process {where} can have {in_units(there_is)} of address space (ulimit -v)"
    elif limit is not None and there_is == limit:
        has = f"--memory-limit allows {in_units(there_is)}"
    else:
        has = f"{in_units(there_is)} are free{'' if here else f' {where}'}"
    return (
        f"{what} needs about {in_units(needed)} of memory{here}, and {has}: "
        f"{_advice(host, hosts, needs)}; --force tries it anyway."
    )


def _advice(host: Host, hosts: int, needs: Needs) -> str:
    """Return advice: a sufficient number of ranks on this host, or of hosts."""
    if hosts == 1:
        for ranks in range(1, max(MOST_HERE, host.ranks) + 1):
            if host.holds(needs(ranks), ranks):
                return f"{_counted(ranks, 'rank')} here would do"
    for ranks in sorted({host.ranks, 1}, reverse=True):
        found = _fewest_hosts(host, ranks, needs)
        if found is not None:
            model = "this one" if hosts == 1 else host.name
            many = f"{_counted(found, 'host')} like {model}"
            return f"{_counted(found * ranks, 'rank')} on {many} would do"
    return "no number of hosts like this one would do"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count > 1)}"


def _fewest_hosts(host: Host, ranks: int, needs: Needs) -> int | None:
    """Return the smallest sufficient number of hosts with `ranks` ranks each, or None."""

    def enough(count: int) -> bool:
        return host.holds(needs(count * ranks), ranks)

    # By bisection: needs decrease with the number of ranks, but without a formula.
    found = bisect_left(range(1, MOST_HOSTS + 1), True, key=enough)
    return found + 1 if found < MOST_HOSTS else None
