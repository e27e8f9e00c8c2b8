"""Schedule files: mpinet's own (CSV, NPZ) and others', a reader per format; some are written.

What is read becomes a `Timetable`. Nothing in a file is ever run, and its size is limited.
"""
