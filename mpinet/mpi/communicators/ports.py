"""Ports and their names: connections between processors without a common communicator."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from typing import Any

from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.contexts import PAIRS
from mpinet.mpi.world.desk import LOOKUP, PUBLISH, UNPUBLISH

PREFIX = "mpinet"

PORTS = "ports"
"""Storage key for a processor's open ports; `OPENED` is the key for their count so far."""

OPENED = "ports opened"


def _ports() -> set[str]:
    """Return the open ports of the running processor."""
    ports: set[str] = running.turns.current.storage().setdefault(PORTS, set())
    return ports


def is_own(port: str) -> bool:
    """Return whether the running processor has opened a port."""
    return port in _ports()


def owner_of(port: str) -> int:
    """Return the processor that has opened a port; -1 for an invalid name."""
    prefix, _, rest = port.partition(":")
    number = rest.partition(":")[0]
    known = prefix == PREFIX and number.isdigit() and int(number) < running.world.size
    return int(number) if known else -1


def place_of(port: str) -> int:
    """Return the context in which leaders meet at a port."""
    return running.world.contexts.number((("port", port), PAIRS))


def Open_port(info: Any = REAL.INFO_NULL) -> str:
    """Open a port of the running processor and return its name."""
    here = running.turns.current
    kept = here.storage()
    kept[OPENED] = kept.get(OPENED, 0) + 1
    port = f"{PREFIX}:{here.id}:{kept[OPENED]}"
    _ports().add(port)
    return port


def Close_port(port_name: str) -> None:
    """Close a port of the running processor."""
    if not is_own(port_name):
        raise REAL.Exception(REAL.ERR_PORT)
    _ports().remove(port_name)


@call
def Publish_name(service_name: str, port_name: str, info: Any = REAL.INFO_NULL) -> None:
    """Publish a port under a service name."""
    about = f"the name {service_name!r} to be published"
    if running.world.desk.ask(PUBLISH, (service_name, port_name), about) is None:
        raise REAL.Exception(REAL.ERR_SERVICE)


@call
def Unpublish_name(service_name: str, port_name: str, info: Any = REAL.INFO_NULL) -> None:
    """Remove a published service name."""
    about = f"the name {service_name!r} to be unpublished"
    if running.world.desk.ask(UNPUBLISH, (service_name, port_name), about) is None:
        raise REAL.Exception(REAL.ERR_SERVICE)


@call
def Lookup_name(service_name: str, info: Any = REAL.INFO_NULL) -> str:
    """Return the port published under a service name."""
    found = running.world.desk.ask(LOOKUP, (service_name,), f"the port named {service_name!r}")
    if found is None:
        raise REAL.Exception(REAL.ERR_NAME)
    port: str = found[0]
    return port
