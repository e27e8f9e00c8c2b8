"""Files that several processors read and write: `MPI.File`.

These are real files, opened by the ranks for their processors. Reads and writes are neither
messages nor steps of the machine. `view` defines the bytes visible to a processor, `opened` the
state of an open file, `accesses` the calls that read and write, and `file` all other calls.
"""
