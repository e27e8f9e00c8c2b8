"""mpi_list: a list distributed over all ranks."""

from mpi_list import Context

context = Context()
numbers = context.iterates(1000).map(lambda k: f"number {k}").filter(lambda text: "2" in text)
found = numbers.head(10)
if context.rank == 0:
    print(found)
short = numbers.filter(lambda text: len(text) <= len("number 99")).collect()
if short is not None:
    print(short)
print(context.rank, len(numbers.E))
