"""``mpinet doctor``: check this host's MPI, launcher, compiler cache and memory."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """Check whether MPI, launcher, compiler cache and memory of this host work with mpinet.

    Returns
    -------
    int
        no document: a list of what, found, verdict (ok, note, BAD), advice.

    Examples
    --------
    ``mpinet doctor``

    ``mpinet doctor --report``
    """

    command = "doctor"
    json: bool = False
    """Print one JSON document."""
    compile: bool = False
    """Compile all kernels in advance, on all cores, so that no first run has to wait."""
    report: bool = False
    """Print all facts for a bug report. Names of the user, of home folders and of the host are
    replaced."""


doctor = function_with(DoctorOptions, int)
