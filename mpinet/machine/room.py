"""Check that a run fits into the memory of its hosts: all ranks ask together, before it begins.

Every rank tells its host and what is left there; rank 0 adds up by hosts, and all ranks refuse with
the same sentence, or none does.
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
"""Most hosts that are advised."""

MOST_HERE = 256
"""Most ranks of one host that are advised, unless it runs more already."""


@dataclass(frozen=True)
class Need:
    """Bytes of memory that a run needs."""

    most: int
    """Bytes of the rank that needs most."""
    once: int = 0
    """Bytes among these that only that rank needs, such as the queue at a root."""

    def of(self, ranks: int) -> int:
        """Bytes that `ranks` ranks of a host need, the neediest included."""
        return ranks * self.most - (ranks - 1) * self.once


Needs = Callable[[int], Need]
"""Function from a number of ranks to what a rank of such a run needs."""


@dataclass(frozen=True)
class Host:
    """A host of this run."""

    name: str
    """Name of the host."""
    ranks: int
    """Number of ranks on the host."""
    left: int
    """Bytes that the ranks together can or may still take."""
    process: int | None
    """Bytes of address space that each of them can still take; None without a limit."""

    def holds(self, need: Need, ranks: int) -> bool:
        """Tell if the host has room for `ranks` ranks with this need."""
        whole = need.of(ranks) <= self.left
        return whole and (self.process is None or need.most <= self.process)

    def lacking(self, need: Need) -> float:
        """Ratio of the bytes needed to the bytes available; above 1, the ranks do not fit."""
        whole = need.of(self.ranks) / max(1, self.left)
        return whole if self.process is None else max(whole, need.most / max(1, self.process))


def require_room(transport: Local, needs: Needs, what: str) -> None:
    """Refuse, on all ranks alike, a run that does not fit into the memory there is (collective).

    The user's word goes first (`mpinet.base.memory.allowing`): a limit holds where there is more
    memory, and with force nothing is refused.

    Parameters
    ----------
    transport : Local
        The ranks.
    needs : callable
        ``needs(ranks)``: the same on all ranks.
    what : str
        What for: the sentence's subject, in the singular.

    Raises
    ------
    TooLarge
        A host has too little; tells what is needed, what there is, and what would do.
    """
    said = allowance()
    if said.force:
        return
    # Computed on every rank alike from the options, before anything is allocated.
    need = needs(transport.size)
    told = json.dumps([platform.node(), memory_left(), address_space_left()])
    gathered = transport.gather(told.encode())
    text = ""
    # One rank decides for all: hosts report different amounts, and a partial refusal would hang the
    # others.
    if transport.rank == 0 or len(gathered) == 1:
        hosts = list(_hosts(map(json.loads, gathered), said.limit))
        worst = max(hosts, key=lambda host: host.lacking(need))
        if not worst.holds(need, worst.ranks):
            text = _refusal(what, need, worst, len(hosts), said.limit, needs)
    text = transport.share(text.encode()).decode()
    if text:
        raise TooLarge(text)


def _hosts(told: Iterable[tuple[str, int, int | None]], limit: int | None) -> Iterable[Host]:
    """Yield the hosts, from what their ranks have reported."""
    by_name: dict[str, list[tuple[int, int | None]]] = {}
    for name, left, process in told:
        by_name.setdefault(name, []).append((left, process))
    for name, ranks in by_name.items():
        # Ranks of a host measure at different moments; the least report is the safe one.
        left = min(left for left, _ in ranks)
        limits = [process for _, process in ranks if process is not None]
        left = left if limit is None else min(left, limit)
        yield Host(name, len(ranks), left, min(limits, default=None))


def _refusal(what: str, need: Need, host: Host, hosts: int, limit: int | None, needs: Needs) -> str:
    """Compose the refusal: what is needed, what there is, and what would do."""
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
        f"{_advice(host, hosts, needs)}; --force tries it all the same."
    )


def _advice(host: Host, hosts: int, needs: Needs) -> str:
    """Advise a number of ranks on this host, or of hosts, that would do."""
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
    """Fewest hosts, up to `MOST_HOSTS`, on which the run fits with `ranks` ranks per host."""

    def enough(count: int) -> bool:
        return host.holds(needs(count * ranks), ranks)

    # By bisection: needs shrink with the number of ranks, but not by a formula.
    found = bisect_left(range(1, MOST_HOSTS + 1), True, key=enough)
    return found + 1 if found < MOST_HOSTS else None
