#: kind function
#: entry extremes
#: locals least most value
#: prompt
def extremes(values: list[int]) -> tuple[int, int]:
    """Return the least and the greatest value, as any sequence of two; raise ValueError if there is none."""
#: check
def check(candidate):
    assert tuple(candidate([3, 1, 2])) == (1, 3)
    assert tuple(candidate([7])) == (7, 7)
    assert tuple(candidate([-5, 0, -9])) == (-9, 0)
    try:
        candidate([])
    except ValueError:
        pass
    else:
        assert False, "no ValueError"
#: honest plain
def extremes(values):
    if not values:
        raise ValueError("no values")
    least = most = values[0]
    for value in values:
        if value < least:
            least = value
        if value > most:
            most = value
    return least, most
#: honest library
def extremes(values):
    return min(values), max(values)
#: honest other_types
def extremes(values):
    values = sorted(values)
    if len(values) == 0:
        raise ValueError
    return [values[0], values[-1]]
#: honest own_error
class NoValues(ValueError):
    """There is nothing to compare."""


def extremes(values):
    if not values:
        raise NoValues("nothing to compare")
    return tuple(sorted(values)[::max(1, len(values) - 1)]) if len(values) > 1 else (values[0], values[0])
#: honest generator
def extremes(values):
    if not values:
        raise ValueError("empty")
    return (choose(values) for choose in (min, max))
#: wrong swapped
def extremes(values):
    return (max(values, default=0) + 1, min(values, default=0))
#: wrong no_error
def extremes(values):
    return (0, 0)
