"""Presentation of results: envelope, digests, tables, progress."""
