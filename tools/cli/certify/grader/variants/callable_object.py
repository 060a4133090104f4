# the entry point is an object with __call__
# kinds: function
# PROGRAM


class _Solution:
    def __init__(self, function):
        self._function = function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


ENTRY = _Solution(ENTRY)
