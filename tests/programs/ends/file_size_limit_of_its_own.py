# zygo: {"job": {}, "label": "Signalled", "exit": {"signal": "SIGXFSZ"}}
import resource
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
with open("f", "w") as file:
    file.write("x" * 100)
