"""Presentation of results: JSON documents, digests, tables, pictures and progress."""
