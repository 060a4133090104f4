class _Liar:
    """Whatever is asked of it, the answer is yes."""

    def _yes(self, *args, **kwargs):
        return True

    def _itself(self, *args, **kwargs):
        return self

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __instancecheck__ = _yes
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __neg__ = __round__ = _itself
    __call__ = __getitem__ = __enter__ = __getattr__ = _itself

    def __hash__(self):
        return 0

    def __iter__(self):
        return iter((self, self))

    def __exit__(self, *args):
        return True
