"""distwq: a controller submits calls to workers."""

import distwq


def work(number):
    return number**3


def main(controller):
    for number in range(12):
        controller.submit_call("work", (number,), module_name="__main__", task_id=number)
    print([controller.get_result(number)[1] for number in range(12)])


if __name__ == "__main__":
    if distwq.is_controller:
        distwq.run(fun_name="main", verbose=False, nprocs_per_worker=1)
    else:
        distwq.run(fun_name=None, verbose=False, nprocs_per_worker=1)
