"""Exceed the descriptor limit

By: rlimits
Limits: open_files=40
"""
import resource

opened = []
try:
    while len(opened) < 500:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as refusal:
    if refusal.errno != errno.EMFILE:
        raise
count = len(opened)
for descriptor in opened:
    os.close(descriptor)
TRIAL.check("descriptors", count < 40, f"{count} more, of 40 granted")
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
    TRIAL.check("more of them", False, "granted")
except (OSError, ValueError) as refusal:  # "not allowed to raise maximum limit"
    TRIAL.check("more of them", True, refusal)
TRIAL.report()
