"""Distributed algorithms for any machine; only the machine moves messages and counts."""
