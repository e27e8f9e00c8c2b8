"""Kernels run twice: with the native code of their rules, and with the rules as plain Python."""

import numpy as np


def compiled_and_plain(kernel, rules, columns, *others):
    """What a kernel writes, with compiled rules and with plain ones.

    Parameters
    ----------
    kernel : Compiled
        Takes rules, columns, further arguments and, as the last one, a column that it fills.
    rules : sequence of Rule
        The rules.
    columns : sequence of ndarray of int64
        Nodes, ports, ..; plain rules get them as numbers of Python.
    *others
        The arguments behind the columns.
    """
    compiled, plain = (np.empty(len(columns[0]), np.int64) for _ in range(2))
    kernel(*(rule.native for rule in rules), *columns, *others, compiled)
    stand_ins = [type("Plain", (), {"call": staticmethod(rule)}) for rule in rules]
    kernel.function(*stand_ins, *(column.astype(object) for column in columns), *others, plain)
    return compiled.tolist(), plain.tolist()
