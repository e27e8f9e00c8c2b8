"""Files that several processors read and write: `MPI.File`.

They are real files, which the ranks open for their processors; what is read and written is neither
a message nor a step of the machine. `view` says which bytes a processor sees, `opened` what it
keeps of a file; `accesses` has the calls that read and write, `file` all others.
"""
