"""Named machines: costs of their processors and links, each with its source.

Values are taken from the source, as whole multiples of `Preset.unit`. A rate without a whole number
in any unit is rounded to femtoseconds per byte (`docs/reference/time.md` has the table).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError


class Preset(NamedTuple):
    """Costs of a machine."""

    unit: str
    """Time unit in which the costs are whole numbers."""
    costs: Mapping[str, str | int]
    """Values of the options of timed runs, by name, including `flat` or `on`."""
    source: str
    """Source of the costs."""


MARTIN = "Martin, Vahdat, Culler, Anderson 1997, table 1"

NVIDIA = "NVIDIA's data sheets; latencies of NCCL's tuning model"

RAILS = {"on": "fattree:8,2", "latency": "1700ns,5300ns"}
"""Network of nodes with eight GPUs on an NVSwitch; the i-th NICs of all nodes meet in rail switch
i."""

MACHINES = {
    "now": Preset(
        "ps",
        {"flat": "5us", "overhead": "2900ns", "gap": "5800ns", "gap_byte": "26316ps"},
        f"Berkeley NOW: {MARTIN}",
    ),
    "paragon": Preset(
        "ps",
        {"flat": "6500ns", "overhead": "1800ns", "gap": "7600ns", "gap_byte": "7092ps"},
        f"Intel Paragon: {MARTIN}",
    ),
    "cs2": Preset(
        "ps",
        {"flat": "7500ns", "overhead": "1700ns", "gap": "13600ns", "gap_byte": "21277ps"},
        f"Meiko CS-2: {MARTIN}",
    ),
    "loggopsim": Preset(
        "ns",
        {"flat": 2500, "overhead": 1500, "gap": 1000, "gap_byte": 6, "eager": 65535},
        "the defaults of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010)",
    ),
    "atlahs": Preset(
        "ps",
        {"flat": "3700ns", "overhead": "200ns", "gap": "5ns", "gap_byte": "40ps", "eager": 0},
        "parameters of ATLAHS for LogGOPSim, for traces of AI",
    ),
    "aries": Preset(
        "fs",
        {
            "on": "dragonfly:4,8,4",
            "overhead": "400ns",
            "gap_byte": "16GB/s",
            "latency": "100ns",
            "time_byte": "190476fs,212766fs",
        },
        "Cray XC: copper within groups, fibre between (as in PPT of Los Alamos)",
    ),
    "slingshot": Preset(
        "ps",
        {"on": "dragonfly:4,8,4", "latency": "363ns,850ns", "time_byte": "25GB/s"},
        "De Sensi et al. 2020: 350 ns a switch, 2.6 m of copper, 100 m of fibre at 5 ns/m",
    ),
    "dgx-a100": Preset("fs", RAILS | {"time_byte": "3333fs,40ps"}, f"DGX A100: {NVIDIA}"),
    "dgx-h100": Preset("fs", RAILS | {"time_byte": "2222fs,20ps"}, f"DGX H100: {NVIDIA}"),
    "dgx-b200": Preset("fs", RAILS | {"time_byte": "1111fs,20ps"}, f"DGX B200: {NVIDIA}"),
    "dgx-b300": Preset("fs", RAILS | {"time_byte": "1111fs,10ps"}, f"DGX B300: {NVIDIA}"),
    "gb200-nvl72": Preset(
        "fs",
        {"on": "fattree:72,1", "latency": "1700ns", "time_byte": "1111fs"},
        f"GB200 NVL72: {NVIDIA}",
    ),
}


def machine_named(name: str) -> Preset:
    """Return a machine by its name.

    Raises
    ------
    UsageError
        There is no such machine.
    """
    if name not in MACHINES:
        raise UsageError(_unknown(name))
    return MACHINES[name]


def _unknown(name: str) -> str:
    """Return the error sentence for an unknown machine, which lists all machines."""
    lines = [f"  {name:11} {machine.source}" for name, machine in MACHINES.items()]
    return f"--machine: there is no {quoted(name)}; there are:\n" + "\n".join(lines)
