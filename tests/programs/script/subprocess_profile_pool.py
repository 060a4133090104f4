# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "[0, 1, 4, 9]\n"}
import multiprocessing


def square(number):
    return number * number


with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(square, range(4)))
