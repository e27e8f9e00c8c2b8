"""Starting jobs on several ranks: the launch script, templates for batch systems, a check-up.

Nothing here runs a machine: these are the tools of the host that a user sits at, and they start
MPI jobs as processes of their own.
"""
