"""``mpinet demo``: run four jobs on several ranks, and compare results with closed forms."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from mpinet.base.files import make_folder, require_writable, write_text
from mpinet.commands.demo import DemoOptions
from mpinet.errors import UsageError
from mpinet.jobs.demopage import is_demo_page, write_demo_page
from mpinet.launching.demo import HEADING, JOBS, documents
from mpinet.launching.launcher import find_launcher
from mpinet.report.drawing.figure import library
from mpinet.report.output import Output
from mpinet.report.tables import table


def act(options: DemoOptions) -> int:
    """Run the demo; return the exit status."""
    ranks, folder = _ranks(options.ranks), options.results
    if folder is not None:
        require_writable(folder / "route.json" if os.path.isdir(folder) else folder)
        make_folder(folder, "--results")
    pictures = _page(options.page, folder)
    output, rows = Output(sys.stdout, "the standard output"), []
    on = "1 rank" if ranks == 1 else f"{ranks} ranks"
    output.write(f"{len(JOBS)} runs on {on}\n")
    sys.stdout.flush()
    found = documents(ranks)
    for job in JOBS:
        front = f"mpinet launch -n {ranks}" if ranks > 1 else "mpinet"
        # The heading of a job must be on the terminal before the job's ranks write there.
        output.write(f"$ {front} {job.arguments}\n")
        sys.stdout.flush()
        document = next(found)
        if document is not None and folder is not None:
            write_text(folder / f"{job.command}.json", document)
        rows.append(job.row(document))
    output.write(f"\n{table(rows, HEADING)}\n")
    if pictures is not None:
        sys.stdout.flush()
        write_demo_page(pictures)
        output.write(f"\nPictures are in {pictures}\n")
    if folder is not None:
        output.write(f"\nThe full results are in {folder}/\n")
    return int(any(row[-1] != "yes" for row in rows))


def _page(wanted: str | None, folder: Path | None) -> Path | None:
    """Return the page's file; None if the page is unwanted, or if matplotlib is missing."""
    if wanted == "none" or (wanted is None and not find_spec("matplotlib")):
        return None
    page = (folder or Path()) / "demo.html" if wanted is None else Path(wanted)
    require_writable(page)
    # The user did not choose this name, so the file may be the user's own.
    if wanted is None and page.exists() and not is_demo_page(page):
        raise UsageError(f"{page} exists and is no demo page: choose a file with --page FILE.")
    library()
    return page


def _ranks(wanted: int | None) -> int:
    if wanted is not None:
        if wanted < 1:
            raise UsageError(f"-n {wanted}: the number of ranks is 1 or more.")
        return wanted
    try:
        find_launcher()
    # Without a launcher the demo runs on one rank.
    except UsageError:
        return 1
    return 4
