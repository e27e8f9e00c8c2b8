"""Files to start from: batch scripts and host lists for users to copy and edit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

TEMPLATES = {
    "slurm": "slurm.sbatch",
    "pbs": "pbs.sh",
    "openmpi-hosts": "openmpi.hosts",
    "mpich-hosts": "mpich.hosts",
    "slurm-hosts": "slurm.hosts",
}
"""File name of each template."""

CHECKOUT_FOLDER = re.compile(r"\b(?:launch|hostfiles)/(?=[a-z]+\.(?:sbatch|sh|hosts)\b)")
"""Pattern of a template's path in a checkout, as used in the template's comments."""


def template(name: str) -> str:
    """Return the text of a template, with paths adapted to a copy outside of a checkout.

    Parameters
    ----------
    name : str
        A name in `TEMPLATES`.
    """
    text = Path(__file__).with_name(TEMPLATES[name]).read_text()
    return CHECKOUT_FOLDER.sub("", text)


def slurm_job(command: Sequence[str], nodes: int, tasks: int) -> str:
    """Return a Slurm batch script that runs one command.

    Parameters
    ----------
    command : sequence of str
        The words after ``mpinet``.
    nodes, tasks : int
        Number of hosts, and number of ranks on all hosts together.
    """
    words = " ".join(map(shlex.quote, command))
    text = re.sub(r"^(#SBATCH --nodes)=.*$", rf"\1={nodes}", template("slurm"), flags=re.M)
    text = re.sub(r"^#SBATCH --ntasks-per-node=.*$", f"#SBATCH --ntasks={tasks}", text, flags=re.M)
    begin, end = text.index("# Template for Slurm"), text.index("#SBATCH")
    text = (
        f"{text[:begin]}# For Slurm: set what else the job needs, then: sbatch FILE\n{text[end:]}"
    )
    return re.sub(r"^\[ \$# -gt 0 \].*$", lambda _: f"set -- {words}", text, flags=re.M)
