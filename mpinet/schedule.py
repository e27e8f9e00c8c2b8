"""Functions for schedules in files, with the options of ``mpinet schedule``.

`run` runs a schedule from a file. `check` runs a schedule and reports the checks made. `export`
writes the schedule of a collective. `generate` writes a textbook collective as a program of
messages.

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
