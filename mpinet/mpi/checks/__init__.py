"""Checks of a script's MPI calls: a checked run finds errors that many MPI libraries hide."""
