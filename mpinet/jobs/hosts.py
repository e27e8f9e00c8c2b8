"""Check that all hosts of a job have the same mpinet and the same input files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mpinet.base.version import __version__
from mpinet.errors import UsageError
from mpinet.machine.transport import Local

Seen = tuple[str, str, dict[str, str]]
"""A host, the version of its mpinet, and the SHA-256 of the command's files there."""


def require_alike(options: Mapping[str, Any], transport: Local) -> None:
    """Raise an error if hosts would compute different results (collective; free on one host).

    Parameters
    ----------
    options : mapping
        The command's options, by name.
    transport : Local
        The ranks.

    Raises
    ------
    UsageError
        A host has another mpinet, or files that differ or are missing.
    """
    if not transport.host:
        return
    from mpinet.experiments.journal import version_of
    from mpinet.jobs.checkpoints import inputs_of

    sources = f"{__version__}, sources {version_of()[:8]}"
    # Hosts exchange hashes instead of contents, because input files may be large, and are shared in
    # most clusters.
    own: Seen = (transport.host, sources, inputs_of(options))
    everybody = [json.loads(text) for text in transport.gather(json.dumps(own).encode())]
    # Rank 0 compares for all ranks, because ranks with other sources might word the error
    # differently.
    sentence = transport.share(difference(everybody).encode()).decode()
    if sentence:
        raise UsageError(sentence)


def difference(everybody: list[Seen]) -> str:
    """Return a sentence on the first host with another mpinet or other files than rank 0's host.

    Files are compared by their hashes. The sentence is empty if all hosts are alike.
    """
    if not everybody:
        return ""
    one, mpinet_there, files_there = everybody[0]
    for host, own_mpinet, files in everybody:
        if own_mpinet != mpinet_there:
            return (
                f"{host} has another version of mpinet ({own_mpinet}) than {one} ({mpinet_there}): "
                "install the same version on all hosts."
            )
        for name in sorted(files | files_there):
            if name not in files or name not in files_there:
                without, with_it = (host, one) if name not in files else (one, host)
                return f"{name} exists on {with_it} but not on {without}: all hosts need the file."
            if files[name] != files_there[name]:
                return f"{name} has different contents on {host} and on {one}."
    return ""
