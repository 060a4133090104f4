# zygo: {"job": {}, "label": "MemoryError"}
from concurrent.futures import Future

future = Future()
future.set_exception(MemoryError())
future.result()
