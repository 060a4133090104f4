# zygo: {"job": {}, "label": "Signalled", "exit": {"signal": "SIGSEGV"}}
import faulthandler

faulthandler._stack_overflow()
