"""Readers of network files of other programs, one per format, and the table of formats."""
