"""Interactive debugging of a script: Python's debugger on every processor."""
