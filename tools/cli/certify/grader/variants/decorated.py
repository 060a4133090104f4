# a decorator around the entry point
# kinds: function
import functools


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


# PROGRAM
ENTRY = counted(ENTRY)
