"""G(m,N): multiple loops with logarithmic diameter (Sen Gupta, Das, Mukhopadhyaya, Sinha 1996).

A ring of N processors, cut into sectors of m, with a diagonal at the start of every sector and
hops of 2^t sectors, each type t once a sector.
"""
