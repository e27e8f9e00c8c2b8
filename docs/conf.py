"""Configuration of Sphinx for these pages; launch/docs runs Sphinx."""

import sys
from pathlib import Path
from pydoc import locate

from sphinx.pycode import ModuleAnalyzer

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

import mpinet  # noqa: E402

project = "mpinet"
author = project_copyright = "mpinet developers"
release = version = mpinet.__version__

extensions = [
    "myst_nb",  # Markdown, and the notebooks of the course
    "sphinx.ext.autodoc",
    "sphinx-mathjax-offline",  # formulas without a network connection
    "sphinx.ext.napoleon",
    "commandpages",
    "pictures",
    "ledger",
    "ledgershown",
    "gallery",
]
exclude_patterns = ["_build", "_extensions", "changes", "paper"]
nb_execution_mode = "cache"  # run only changed notebooks
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True  # except in cells that expect an error: checks of open exercises
nb_output_stderr = "remove"  # a warning begins with the path of a file on the building host

default_role = "py:obj"  # meaning of single backticks in docstrings
suppress_warnings = ["ref.python"]  # an attribute such as `steps` may belong to several classes

myst_enable_extensions = ["dollarmath", "attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings state types, with shapes, ranges and units
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

highlight_language = "none"  # for blocks without a language: commands and their output
html_theme = "furo"
html_title = "mpinet"
html_static_path = ["_static"]
html_css_files = ["site.css", "ledger.css"]


def setup(app):
    """Connect the preparation of docstrings, before napoleon at priority 500."""
    app.connect("autodoc-process-docstring", _prepared, priority=400)


def _prepared(_app, what, name, _object, _options, lines):
    """Add a field's type from the source; remove the fields that `described` adds to a class.

    The empty comment protects the first line, because napoleon takes words before a colon for the
    type.
    """
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]
    if what == "attribute":
        cls, _, field = name.rpartition(".")
        owner = locate(cls)
        analyzer = ModuleAnalyzer.for_module(owner.__module__)
        analyzer.analyze()
        if kind := analyzer.annotations.get((owner.__qualname__, field)):
            lines += ["", f":type: ``{kind}``"]
    if what == "class" and "Fields" in lines:
        del lines[lines.index("Fields") :]
