# a thread of its own has ended before the first call
# kinds: function class
import threading

_done = []
_worker = threading.Thread(target=_done.append, args=(1,))
_worker.start()
_worker.join()
# PROGRAM
