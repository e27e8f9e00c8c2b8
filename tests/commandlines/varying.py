"""What of a command's text differs from run to run, as docs/contract.md says: it is masked."""

import csv
import io
import json
import re
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

VARYING = {"seconds", "made", "mpinet", "memory"}
"""Fields of documents, and first parts of columns, that a time, a version or a host decides."""

JOURNALS = re.compile(r"(?:shard-.*-)?rank-\d+\.jsonl")
"""Names of files to which a rank writes what it has done, and when."""

TEXTS = {".csv", ".dot", ".goal", ".graphml", ".html", ".jsonl", ".lp", ".opb", ".pbp", ".svg"}
TEXTS |= {".anynet", ".cnf", ".edges", ".lrat", ".md", ".paje", ".tex", ".toml", ".txt", ".v"}
TEXTS |= {".cert", ".sbatch", ".xml", ".hosts", ""}
"""Endings of files that are compared as texts."""

MASKS = [
    (r"^memory +[\d.]+ GiB$", "memory  .."),  # of predict
    (r"^seconds +computing .*$", "seconds  .."),
    (r"^(ok +memory|ok +compiled code|ok +cache|ok +two ranks) .*$", r"\1  .."),  # of doctor
    (r"^\w[^:\n]* after \d+ s(?:[,;].*)?\n", ""),  # progress, which only slow commands show
    (r"(?:^\{.*\"left\": .*\}\n)+", "progress ..\n"),
    (r"^.*compiling (\(once; |\d+ of \d+ kernels, ).*\n", ""),
    (r"<dt>date</dt><dd>.*</dd>", "<dt>date</dt>"),
    (r"\b[0-9a-f]{40}\b", "COMMIT"),
    (r"(?:^  File \".*\n(?:    .*\n)*)+", "  File ..\n"),  # where an error was raised
    (r"\bprterun-\S+-\d+@", "prterun@"),  # Open MPI's name of a job
]
"""Patterns of what differs in texts, and what stands in its place."""


def steady(text: str) -> str:
    """Return a text without what differs from run to run; a document is laid out in lines."""
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    if text.startswith(("{", "[")):
        with suppress(ValueError):
            return laid_out(json.loads(text))
    return text


def laid_out(document: Any) -> str:
    """Return a document as text, without the fields that differ."""
    return json.dumps(_without(document), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if key not in VARYING}
    return [_without(each) for each in value] if isinstance(value, list) else value


def _columns(text: str) -> str:
    """Return a table without the columns that differ."""
    rows = [*csv.reader(io.StringIO(text))]
    kept = [at for at, name in enumerate(rows[0]) if name.split(".")[0] not in VARYING]
    return "".join(f"{','.join(row[at] for at in kept if at < len(row))}\n" for row in rows)


def content(file: Path) -> str:
    """Return what is compared of a file that a command has written."""
    data = file.read_bytes()
    if file.suffix == ".npz":
        members = zipfile.ZipFile(file).infolist()
        return "".join(f"{each.filename} {each.CRC:08x}\n" for each in members)
    if file.suffix == ".jsonl":
        return "".join(laid_out(json.loads(line)) for line in data.decode().splitlines())
    if file.suffix == ".json" and data.startswith((b"{", b"[")):
        return laid_out(json.loads(data))
    if file.suffix == ".csv" and not data.startswith(b"#"):
        return _columns(data.decode())
    if file.suffix in TEXTS:
        return steady(data.decode(errors="backslashreplace"))
    return f"{sha256(data).hexdigest()}\n"
