"""Schedule files: mpinet's own (CSV, NPZ) and other formats, a reader each; some are also written.

A file becomes a `Timetable`. Nothing in a file is ever executed, and the size of files is limited.
"""
