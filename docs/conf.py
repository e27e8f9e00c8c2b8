"""How Sphinx builds these pages; launch/docs calls it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

import mpinet  # noqa: E402

project = "mpinet"
author = "mpinet developers"
release = version = mpinet.__version__

extensions = [
    "myst_nb",  # Markdown, and the notebooks of the course
    "sphinx.ext.autodoc",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx.ext.napoleon",
    "commandpages",
    "ledger",
    "ledgershown",
    "gallery",
]
exclude_patterns = ["_build", "_extensions"]
nb_execution_mode = "cache"  # notebooks run when they have changed
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = (
    True  # but where a cell says that it may: checks of what nobody has answered
)

default_role = "py:obj"  # what docstrings put into single backticks
suppress_warnings = ["ref.python"]  # an attribute as `steps` there may be that of several classes

myst_enable_extensions = ["dollarmath", "attrs_block", "colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say them, with shapes, ranges and units
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

highlight_language = "none"  # of blocks that name no language: commands and what they print
html_theme = "furo"
html_title = "mpinet"
html_static_path = ["_static"]
html_css_files = ["site.css", "ledger.css"]
