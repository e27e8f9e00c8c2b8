"""Schedule files: mpinet's own (CSV, NPZ), MSCCL-XML, ForestColl XML and GOAL, read and written.

What is read becomes a `Timetable`. Nothing in a file is ever run, and its size is limited.
"""
