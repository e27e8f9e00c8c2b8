"""Make the PDF of the paper.

Usage: python docs/paper/make.py PAPER.pdf

Needs pypandoc-binary and typst (pip install pypandoc-binary typst).
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pypandoc
import typst

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Convert the Markdown to Typst, and the Typst to PDF."""
    options = ["--citeproc", f"--template={HERE / 'template.typ'}", f"--resource-path={HERE}"]
    options += [f"--bibliography={HERE / 'paper.bib'}", "--metadata=link-citations"]
    with TemporaryDirectory() as folder:
        text = Path(folder, "paper.typ")
        pypandoc.convert_file(
            str(HERE / "paper.md"), "typst", outputfile=str(text), extra_args=options
        )
        typst.compile(str(text), output=sys.argv[1])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
