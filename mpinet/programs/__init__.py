"""Distributed algorithms that run on any machine; only the machine moves messages and counts."""
