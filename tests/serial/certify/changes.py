"""Certificates that say something else than what was found."""

import json
from pathlib import Path
from typing import Any


def changed(folder: Path, which: str, **changes: Any) -> Path:
    """A copy of a certificate with other entries; ``claim__more_than`` is one of its claim."""
    document = json.loads((folder / f"{which}.cert").read_text())
    for key, value in changes.items():
        inside, _, name = key.rpartition("__")
        (document[inside] if inside else document)[name] = value
    file = folder / "changed.cert"
    file.write_text(json.dumps(document))
    return file
