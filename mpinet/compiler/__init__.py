"""The compiler: makes objects of native code, in a process of its own, like a C compiler.

Only this room imports Numba. A job never loads Numba: it sends descriptions of functions
(`mpinet.base.native.description`) and loads the finished objects.
"""
