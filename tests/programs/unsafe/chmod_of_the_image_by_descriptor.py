# zygo: {"job": {}, "label": "PermissionError"}
# Not by path, so not named; refused by a read-only mount and another owner.
import os

try:
    os.fchmod(os.open("/usr/bin/env", os.O_RDONLY), 0o4777)
except OSError as error:
    raise PermissionError from error
