"""Write a recipe for conda-forge and a package for Spack, from pyproject.toml and an sdist.

Usage: python launch/release/recipes.py SDIST [--url BASE]

The files recipe.yaml and package.py appear in the folder recipe next to SDIST. With BASE, both
fetch the sdist from BASE/releases. Without BASE, both take the local file. The folder recipe of
this script has the templates.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

from metadata import address

HERE = Path(__file__).resolve().parent


REQUIREMENT = re.compile(r"([\w.-]+?)>=([\w.]+?)(?:,<([\w.]+))?")
"""Form of requirements in pyproject.toml: a lowest version, and perhaps an upper bound."""


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sdist", type=Path, metavar="SDIST", help="the sdist of the release")
    parser.add_argument("--url", type=address, metavar="BASE", help="public address of the project")
    given = parser.parse_args()
    settings = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    folder = given.sdist.resolve().parent / "recipe"
    folder.mkdir(exist_ok=True)
    for name, fields in (("recipe.yaml", conda), ("package.py", spack)):
        template = Template((HERE / "recipe" / f"{name}.in").read_text(encoding="utf-8"))
        text = template.substitute(fields(settings, given.sdist.resolve(), given.url))
        (folder / name).write_text(text, encoding="utf-8")


def shared(settings: dict[str, Any], sdist: Path) -> dict[str, str]:
    """Return the fields that both files have."""
    project = settings["project"]
    return {
        "version": sdist.name.removesuffix(".tar.gz").rpartition("-")[2],
        "sha256": sha256(sdist.read_bytes()).hexdigest(),
        "python": project["requires-python"].removeprefix(">="),
        "description": project["description"],
        "license": project["license"],
    }


def conda(settings: dict[str, Any], sdist: Path, base: str | None) -> dict[str, str]:
    """Return the fields of the recipe for conda-forge."""
    project = settings["project"]
    optional = [
        line for extra in ("fast", "plots") for line in project["optional-dependencies"][extra]
    ]
    scripts = [f"{name} = {function}" for name, function in project["scripts"].items()]
    addresses = "".join(f"  {name}: {base}\n" for name in ("homepage", "repository"))
    return shared(settings, sdist) | {
        "place": "url" if base else "path",
        "source": release(base, sdist) if base else f"../{sdist.name}",
        "scripts": items(scripts, 6),
        "build": items(map(spaced, settings["build-system"]["requires"])),
        "run": items(map(spaced, project["dependencies"])),
        "constraints": items(map(spaced, optional)),
        "homepage": addresses if base else "",
    }


def spack(settings: dict[str, Any], sdist: Path, base: str | None) -> dict[str, str]:
    """Return the fields of the package for Spack."""
    project = settings["project"]
    extras = project["optional-dependencies"]
    # A package without a public address is installed from a file in the current folder.
    local = f'    manual_download = True\n    url = f"file://{{os.getcwd()}}/{sdist.name}"\n'
    public = f'    homepage = "{base}"\n    url = "{release(base, sdist)}"\n'
    return shared(settings, sdist) | {
        "imports": "" if base else "import os\n\n",
        "homepage": public if base else local,
        "build": depends(settings["build-system"]["requires"], 4, '"build"'),
        "run": depends(project["dependencies"], 4),
        "fast": depends(extras["fast"], 8),
        "plots": depends(extras["plots"], 8),
    }


def release(base: str | None, sdist: Path) -> str:
    """Return the address of the sdist of a release."""
    version = sdist.name.removesuffix(".tar.gz").rpartition("-")[2]
    return f"{base}/releases/download/v{version}/{sdist.name}"


def items(texts: Any, blanks: int = 4) -> str:
    """Return the items of a YAML list."""
    return "\n".join(f"{' ' * blanks}- {text}" for text in texts)


def parts(requirement: str) -> tuple[str, str, str | None]:
    """Return the name, the lowest version and the upper bound of a requirement."""
    found = REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"launch/release/recipes.py: cannot translate {requirement!r}")
    return found[1], found[2], found[3]


def spaced(requirement: str) -> str:
    """Return a requirement as conda writes it."""
    name, lowest, bound = parts(requirement)
    return f"{name} >={lowest}" + (f",<{bound}" if bound else "")


def depends(requirements: list[str], blanks: int, kind: str = '("build", "run")') -> str:
    """Return the lines of a Spack package for requirements."""
    lines = []
    for requirement in requirements:
        name, lowest, bound = parts(requirement)
        last = below(bound) if bound else ""
        lines.append(f'{" " * blanks}depends_on("py-{name}@{lowest}:{last}", type={kind})')
    return "\n".join(lines)


def below(bound: str) -> str:
    """Return the last version series before a bound, because ranges of Spack include their end."""
    *most, last = bound.split(".")
    if int(last) == 0:
        raise SystemExit(f"launch/release/recipes.py: no series lies right below {bound}")
    return ".".join([*most, str(int(last) - 1)])


if __name__ == "__main__":
    main()
