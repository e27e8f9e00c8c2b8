"""Files to begin with: batch scripts and host lists, for a copy that a user then edits."""

from __future__ import annotations

import re
from pathlib import Path

TEMPLATES = {
    "slurm": "slurm.sbatch",
    "pbs": "pbs.sh",
    "openmpi-hosts": "openmpi.hosts",
    "mpich-hosts": "mpich.hosts",
    "slurm-hosts": "slurm.hosts",
}
"""The file behind each template's name."""

CHECKOUT_FOLDER = re.compile(r"\b(?:launch|hostfiles)/(?=[a-z]+\.(?:sbatch|sh|hosts)\b)")
"""Where a template lies in a checkout, in its own words on how it is used."""


def template(name: str) -> str:
    """The text of a template, as it is used where it was copied to.

    Parameters
    ----------
    name : str
        One of `TEMPLATES`.
    """
    text = Path(__file__).with_name(TEMPLATES[name]).read_text()
    return CHECKOUT_FOLDER.sub("", text)
