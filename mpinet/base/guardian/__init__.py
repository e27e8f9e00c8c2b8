"""A separate program that watches a job's processes on one host, and can end the job.

``launch/run`` starts a guardian next to its launcher. Ranks without a guardian start one on their
host (`ranks.watch_ranks`). The guardian reads commands from standard input. The starting process
keeps this input open:

    watch PID ..   watch these processes and all their descendants
    below PID      watch the ranks started by this process, now or later
    folder PATH    delete this folder of the job at the end
    end N          send signal N to the watched processes, kill survivors after two seconds, exit
    orphans        kill the remaining processes of the job, exit
    over           exit

End of input without a command means a dead sender. On the other hosts of a job, ssh starts a
guardian with ``--there``. This guardian runs the launcher's daemon, and ends all processes if the
launching host falls silent.

The guardian detects stopped processes (SIGSTOP; a process stopped by a debugger does not count).
The process state comes from the operating system. A rank in a computation of hours is therefore
never mistaken for a stopped rank, and a stopped launcher is detected as well. The folder needs no
other part of mpinet and runs with any Python.
"""
