# the entry point is a bound method
# kinds: function
# PROGRAM


class Solution:
    original = staticmethod(ENTRY)

    def solve(self, *args, **kwargs):
        return self.original(*args, **kwargs)


ENTRY = Solution().solve
