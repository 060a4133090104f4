# zygo: {"labels": ["FileNotFoundError", "PermissionError", "NotADirectoryError"]}
# Reading is no crime of the table, but there is nothing to read.
open("/etc/shadow").read()
