# computes for some milliseconds before each call
# kinds: function class
# PROGRAM


def _slowed(made):
    def slow(*args, **kwargs):
        wasted = 0
        for step in range(50_000):
            wasted ^= step
        return made(*args, **kwargs)

    return slow


ENTRY = _slowed(ENTRY)
