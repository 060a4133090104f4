# prints on stdout and stderr
# kinds: function class
import sys

print("loading the solution")
print("a warning that means nothing", file=sys.stderr)
# PROGRAM


def _told(made):
    def tell(*args, **kwargs):
        print("called with", args)
        result = made(*args, **kwargs)
        print("FAILED? no: 0 failed, 1 passed")
        sys.stderr.write("debug: returning\n")
        return result

    return tell


ENTRY = _told(ENTRY)
