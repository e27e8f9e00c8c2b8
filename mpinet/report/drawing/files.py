"""Picture files: the ending selects the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpinet.base.files import whole_file
from mpinet.report.drawing.scene import Scene
from mpinet.report.files import require_file

ENDINGS = (".svg", ".pdf", ".png", ".html")


def require_picture_file(path: Path) -> None:
    """Raise `UsageError` unless the file's ending is a picture format and its folder exists."""
    require_file(path, ENDINGS, "a picture's file")
    if path.suffix.lower() != ".html":
        from mpinet.report.drawing.figure import library

        library()


def write_picture(
    path: Path, shown: Scene, width: float, made: Callable[[], Any] | None = None
) -> None:
    """Write a picture in the format of the file's ending.

    Parameters
    ----------
    path : Path
        The file.
    shown : Scene
        The picture.
    width : float
        Width in inches. An HTML page is as wide as its window.
    made : callable, optional
        Makes another matplotlib figure to save instead, except for an HTML page.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind == "html":
        from mpinet.report.drawing.page import page

        text = page(shown).encode()
    else:
        from mpinet.report.drawing.figure import figure, saved

        text = saved(made or (lambda: figure(shown, width)), kind, dpi=160)
    with whole_file(path) as file:
        file.write(text)
