"""A real browser that shows a page and tells what has become of it."""

import shutil
import subprocess
import warnings
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

QUIET = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"

DARK = "--blink-settings=preferredColorScheme=0"


def shown(file: Path, address: str = "", *options: str) -> str | None:
    """The page's elements when its scripts have run; None, with a warning, without a browser."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        warnings.warn("no browser: without chromium the page's script is not tested", stacklevel=2)
        return None
    profile = f"--user-data-dir={file.parent / 'profile'}"
    command = [found, *QUIET.split(), profile, *options, "--dump-dom", f"{file.as_uri()}{address}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
