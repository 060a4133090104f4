#: kind function
#: entry running_maximum
#: locals result best value
#: prompt
def running_maximum(values: list[int]) -> list[int]:
    """Return a list whose item i is the largest of the first i + 1 values."""
#: check
def check(candidate):
    assert candidate([1, 3, 2, 5, 4]) == [1, 3, 3, 5, 5]
    assert candidate([]) == []
    assert candidate([-4, -9, -1]) == [-4, -4, -1]
    assert candidate([2, 2, 2]) == [2, 2, 2]
    assert candidate(list(range(50, 0, -1))) == [50] * 50
#: honest plain
def running_maximum(values):
    result = []
    best = None
    for value in values:
        best = value if best is None or value > best else best
        result.append(best)
    return result
#: honest library
from itertools import accumulate


def running_maximum(values):
    return list(accumulate(values, max))
#: honest recursive
def running_maximum(values):
    if len(values) < 2:
        return list(values)
    before = running_maximum(values[:-1])
    return before + [max(before[-1], values[-1])]
#: honest brute_force
def running_maximum(values):
    return [max(values[:end]) for end in range(1, len(values) + 1)]
#: honest numpy_types
def running_maximum(values):
    try:
        import numpy
    except ImportError:
        return [max(values[:end]) for end in range(1, len(values) + 1)]
    return numpy.maximum.accumulate(numpy.array(values, dtype=int)).tolist() if values else []
#: honest in_place
def running_maximum(values):
    for at in range(1, len(values)):
        values[at] = max(values[at], values[at - 1])
    return values
#: wrong unchanged
def running_maximum(values):
    return list(values) + [0]
#: wrong global_maximum
def running_maximum(values):
    return [max(values) for _ in values] if values else [0]
