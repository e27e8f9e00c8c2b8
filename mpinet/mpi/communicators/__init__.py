"""Communicators: members, groups, contexts, topologies, what is asked of them."""
