"""Exchange of JSON data about processors between ranks; users' values travel as pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mpinet.machine.transport import Local


def gathered(transport: Local, value: Any) -> list[Any]:
    """Gather the value of each rank on rank 0; return an empty list elsewhere (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    value : object
        This rank's value, made of lists, strings and numbers. A tuple arrives as a list.
    """
    return [json.loads(text) for text in transport.gather(json.dumps(value).encode())]


def gathered_of(transport: Local, own: Mapping[int, Any]) -> dict[int, Any]:
    """Merge all ranks' entries about their processors on rank 0; empty elsewhere (collective)."""
    return {key: said for rows in gathered(transport, list(own.items())) for key, said in rows}


def agreed(transport: Local, value: Any) -> Any:
    """Return rank 0's value on every rank (collective)."""
    return json.loads(transport.share(json.dumps(value).encode()))
