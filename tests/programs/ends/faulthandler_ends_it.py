# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 1}}
import faulthandler
import time

faulthandler.dump_traceback_later(0.02, exit=True)
time.sleep(5)
