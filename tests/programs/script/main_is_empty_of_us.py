# zygo: {"label": "OK", "stdout": "[]\n"}
# Nothing but what any script finds in its namespace.
USUAL = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__annotations__", "__builtins__"}
USUAL |= {"__file__", "__cached__", "USUAL"}
print(sorted(set(globals()) - USUAL))
