"""PySke: skeletons on parallel lists."""

from pyske.core.list.plist import PList
from pyske.core.support.parallel import at_root, pid

numbers = PList.init(lambda k: k * k % 101, 1000)
total = numbers.reduce(lambda x, y: x + y)
mean = total / numbers.length()
spread = numbers.map(lambda x: (x - mean) ** 2).reduce(lambda x, y: x + y)
print(pid, total)
at_root(lambda: print(f"{total} {spread:.6f}"))
