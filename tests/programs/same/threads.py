# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [[0, 1, 4, 9]], "determinism": {"runs": 2, "same": true}}
import threading


def f(x):
    results = [0] * 4

    def work(n):
        results[n] = n * n

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
