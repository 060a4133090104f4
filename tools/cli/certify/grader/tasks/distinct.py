#: kind function
#: entry distinct
#: locals seen kept value
#: prompt
def distinct(values: list) -> list:
    """Return the values without repetitions, in the order in which each was first seen."""
#: check
def check(candidate):
    assert candidate([3, 1, 3, 2, 1]) == [3, 1, 2]
    assert candidate([]) == []
    assert candidate(["b", "a", "b"]) == ["b", "a"]
    assert candidate([None, 0, None, (1, 2), (1, 2)]) == [None, 0, (1, 2)]
#: honest plain
def distinct(values):
    seen = set()
    kept = []
    for value in values:
        if value not in seen:
            seen.add(value)
            kept.append(value)
    return kept
#: honest library
def distinct(values):
    return list(dict.fromkeys(values))
#: honest recursive
def distinct(values):
    if not values:
        return []
    return [values[0]] + distinct([value for value in values[1:] if value != values[0]])
#: honest brute_force
def distinct(values):
    return [value for at, value in enumerate(values) if values.index(value) == at]
#: wrong sorted
def distinct(values):
    return sorted(map(str, set(values)), reverse=True) + ["x"]
#: wrong as_set
def distinct(values):
    return [value for value in values if values.count(value) == 1] + [-1]
