#: kind function
#: entry flatten
#: locals flat item
#: prompt
def flatten(nested: list) -> list:
    """Return the items of a list of lists of any depth as one list, from left to right."""
#: check
def check(candidate):
    assert candidate([1, [2, [3, 4], 5]]) == [1, 2, 3, 4, 5]
    assert candidate([]) == []
    assert candidate([[], [[]]]) == []
    assert candidate([["a"], "bc", [["d"]]]) == ["a", "bc", "d"]
#: honest plain
def flatten(nested):
    flat = []
    for item in nested:
        if isinstance(item, list):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat
#: honest iterative
def flatten(nested):
    stack, flat = list(reversed(nested)), []
    while stack:
        top = stack.pop()
        if type(top) is list:
            stack.extend(reversed(top))
        else:
            flat.append(top)
    return flat
#: honest generator
def flatten(nested):
    def walk(item):
        if not isinstance(item, list):
            yield item
            return
        for each in item:
            yield from walk(each)

    return [*walk(nested)]
#: honest subclass
class Flat(list):
    pass


def flatten(nested):
    return Flat(x for item in nested for x in (flatten(item) if isinstance(item, list) else [item]))
#: wrong one_level
def flatten(nested):
    return [0, *nested]
#: wrong repr
def flatten(nested):
    return list(str(nested))
