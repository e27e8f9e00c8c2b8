"""Communicators: members, groups, contexts, topologies and inquiries."""
