"""G(m,N): multiple loops with logarithmic diameter (Sen Gupta, Das, Mukhopadhyaya, Sinha 1996).

A ring of N processors is divided into sectors of m. Every sector has a diagonal at its start, and
one hop of 2^t sectors for each type t.
"""
