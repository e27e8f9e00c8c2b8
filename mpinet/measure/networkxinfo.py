"""The words that tell networkx of its backend ``mpinet`` at its import, nothing being loaded."""

from __future__ import annotations

from typing import Any

FUNCTIONS = {
    "all_pairs_shortest_path_length": "cutoff: any whole number.",
    "average_shortest_path_length": "method: unweighted.",
    "diameter": "usebounds: ignored; all distances are measured.",
    "eccentricity": "",
}
"""Functions of networkx that the flooding kernel does, with what it says of their options."""


def get_info() -> dict[str, Any]:
    """Return the backend's description: networkx's entry point ``networkx.backend_info``."""
    return {
        "backend_name": "mpinet",
        "project": "mpinet",
        "package": "mpinet",
        "short_summary": "Distances of undirected, unweighted graphs by bit-parallel floods.",
        "functions": {
            name: {"additional_docs": f"Undirected and unweighted. {said}".strip()}
            for name, said in FUNCTIONS.items()
        },
    }
