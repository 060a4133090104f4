# zygo: {"label": "OK", "stdout": "main\nthread\n"}
import threading

go = threading.Event()


def work():
    go.wait()
    print("thread")


threading.Thread(target=work).start()
print("main")
go.set()
