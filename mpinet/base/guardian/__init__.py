"""A separate program that watches a job's processes on one host, and ends them.

``launch/run`` starts one beside its launcher; ranks that nobody watches start one on their host
(`ranks.watch_ranks`). It reads from its standard input, which whoever has started it keeps open:

    watch PID ..   the processes that it is about, and with them all that descend from them
    below PID      the ranks that this process has started, also those that it starts later
    folder PATH    a folder of the job's own, to be deleted at its end
    end N          send them signal N, kill those that are still there after two seconds; exit
    orphans        kill what is left of the job; exit
    over           exit

Where that input ends without a word, the process that held it is dead. On the other hosts of a job
ssh starts it, ``--there``: it runs the daemon of the launcher, and ends all when nothing is heard
any more.

What is watched is whether a process is stopped (SIGSTOP, a debugger's excepted): as the system
knows that, a rank that computes for hours is never taken for one that does not answer, and it is
seen of the launcher, too. The folder needs nothing else of mpinet and runs with any Python.
"""
