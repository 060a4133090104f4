# zygo: {"job": {}, "label": "Signalled", "exit": {"signal": "SIGABRT"}}
import faulthandler

faulthandler._fatal_error_c_thread()
import time

time.sleep(5)
