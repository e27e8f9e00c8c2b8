"""The compiler: makes objects of native code. It runs in a process of its own, like a C compiler.

Only this room imports Numba. A job never loads it: the job sends descriptions of functions
(`mpinet.base.native.description`) and loads the finished objects.
"""
