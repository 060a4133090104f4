# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"pids": 8}}, "label": "OK", "value": [6]}
import threading


def f(x):
    barrier = threading.Barrier(6)
    threads = [threading.Thread(target=barrier.wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for thread in threads:
        thread.join()
    return len(threads) + 1
