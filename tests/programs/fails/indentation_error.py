# zygo: {"labels": ["IndentationError", "SyntaxError"]}
# A subclass of SyntaxError: the contract allows the class name and the table's row.
def f(x):
return x
