"""Starting jobs on several ranks: the launch script, templates for batch systems, a check-up.

Nothing here runs a machine. These tools run on the user's host and start MPI jobs as separate
processes.
"""
