"""Test suites against a program in another cell: the code that runs there, in the tests' cell and in the program's, and
the jobs made of it (`jobs.py`). `zygo test` embeds the same files.
"""
