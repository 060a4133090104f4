# zygo: {"stdout": "main goes on\n", "label": "OK", "stderr": "ValueError"}
import threading


def work():
    raise ValueError("in a thread")


thread = threading.Thread(target=work)
thread.start()
thread.join()
print("main goes on")
