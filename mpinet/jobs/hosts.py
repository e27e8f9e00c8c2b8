"""Checks that the hosts of a job have the same mpinet and the same input files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mpinet.base.version import __version__
from mpinet.errors import UsageError
from mpinet.machine.transport import Local

Seen = tuple[str, str, dict[str, str]]
"""A host, its mpinet, and the sha256 of the command's files there."""


def require_alike(options: Mapping[str, Any], transport: Local) -> None:
    """Refuse hosts that would not compute the same (collective; free on one host).

    Parameters
    ----------
    options : mapping
        The command's, by name.
    transport : Local
        The ranks.

    Raises
    ------
    UsageError
        Another mpinet on one of the hosts, or files that differ or are missing there.
    """
    if not transport.host:
        return
    from mpinet.experiments.journal import version_of
    from mpinet.jobs.checkpoints import inputs_of

    sources = f"{__version__}, sources {version_of()[:8]}"
    # Hashes travel in place of contents: input files may be large, and hosts share them in most
    # clusters anyway.
    own: Seen = (transport.host, sources, inputs_of(options))
    everybody = [json.loads(text) for text in transport.gather(json.dumps(own).encode())]
    # Rank 0 compares for all ranks. Ranks with other sources might disagree about the sentence.
    sentence = transport.share(difference(everybody).encode()).decode()
    if sentence:
        raise UsageError(sentence)


def difference(everybody: list[Seen]) -> str:
    """Describe in a sentence how a host differs from the first; empty if none does."""
    if not everybody:
        return ""
    one, mpinet_there, files_there = everybody[0]
    for host, own_mpinet, files in everybody:
        if own_mpinet != mpinet_there:
            return (
                f"{host} has another mpinet ({own_mpinet}) than {one} ({mpinet_there}): "
                "install the same on all hosts."
            )
        for name in sorted(files | files_there):
            if name not in files or name not in files_there:
                without, with_it = (host, one) if name not in files else (one, host)
                return f"{name} is on {with_it} and not on {without}: all hosts have to see it."
            if files[name] != files_there[name]:
                return f"{name} on {host} is not the file that it is on {one}."
    return ""
