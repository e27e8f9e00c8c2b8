"""Files of pictures, by their endings."""

from __future__ import annotations

from pathlib import Path

from mpinet.errors import UsageError
from mpinet.report.drawing.scene import Scene
from mpinet.report.files import require_writable, whole_file

ENDINGS = (".svg", ".pdf", ".png", ".html")


def require_picture_file(path: Path) -> None:
    """Raise `UsageError` unless a picture can be written to this file."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"{path}: a picture's file ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}."
        )
    require_writable(path)
    if path.suffix.lower() != ".html":
        from mpinet.report.drawing.figure import library

        library()


def write_picture(path: Path, shown: Scene, width: float) -> None:
    """Write a picture in the format of the file's ending.

    Parameters
    ----------
    path : Path
        The file.
    shown : Scene
        The picture.
    width : float
        In inches; a page is as wide as its window.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind == "html":
        from mpinet.report.drawing.page import page

        made = page(shown).encode()
    else:
        from mpinet.report.drawing.figure import rendered

        made = rendered(shown, kind, width)
    with whole_file(path) as file:
        file.write(made)
