"""``mpinet doctor``: what this host has for mpinet, and whether its parts belong together."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """Look whether MPI, launcher, compiler cache and memory are as mpinet needs them.

    Returns
    -------
    int
        no document: a list of what, found, verdict (ok, note, BAD), advice.

    Examples
    --------
    ``mpinet doctor``

    ``mpinet doctor --compile``
    """

    command = "doctor"
    json: bool = False
    """Print one JSON document."""
    compile: bool = False
    """Compile beforehand what jobs need, on all cores, as far as it is not: no first run waits."""


doctor = function_with(DoctorOptions, int)
