"""Description of the backend ``mpinet`` for networkx, which imports no other modules."""

from __future__ import annotations

from typing import Any

FUNCTIONS = {
    "all_pairs_shortest_path_length": "cutoff: any whole number.",
    "average_shortest_path_length": "method: unweighted.",
    "diameter": "usebounds: ignored; all distances are measured.",
    "eccentricity": "",
}
"""Functions of networkx in the backend, with notes on their options."""


def get_info() -> dict[str, Any]:
    """Return the backend's description, for networkx's entry point ``networkx.backend_info``."""
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
