"""Schedules as files, from Python: the work of ``mpinet schedule``, with the same options.

`run` runs a schedule from a file, `check` runs it and tells what was checked, `export` writes that
of a collective, `generate` a textbook's collective as a program of messages.

Examples
--------
>>> import mpinet, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     written = mpinet.schedule.export("gossip", "ring:8", out=f"{folder}/ring8.xml")
...     found = mpinet.schedule.run(f"{folder}/ring8.xml", "ring:8")
>>> found.steps, found.format, found.correct
(7, 'MSCCL', True)
"""

from mpinet.commands.generate import generate as generate
from mpinet.commands.schedule import check as check
from mpinet.commands.schedule import export as export
from mpinet.commands.schedule import run as run
