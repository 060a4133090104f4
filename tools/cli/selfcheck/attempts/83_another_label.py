"""Take a label of the sandbox's

Ends: program.SandboxError
"""


class SandboxError(Exception):
    pass


raise SandboxError("blame zygo")
