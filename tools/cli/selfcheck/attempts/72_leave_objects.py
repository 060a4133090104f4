"""Leave what no scratch directory holds: shared memory, keys, sockets

Ends: OK, UnsafeCode
"""
import socket

NO = (*REFUSED, errno.ENOSYS)
key = FACTS["key"] + 1
TRIAL.attempt("shared memory", lambda: raw("shmget", key, 4096, 0o1666), *NO)
TRIAL.attempt("semaphores", lambda: raw("semget", key, 1, 0o1666), *NO)
TRIAL.attempt("a message queue", lambda: raw("msgget", key, 0o1666), *NO)
TRIAL.attempt("a key", lambda: raw("add_key", b"user", b"zygo-left", b"1", 1, -4), *NO)


def bind():
    mine = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mine.bind("\0zygo-left")
    return mine.detach()


TRIAL.attempt("an abstract socket", bind, *NO)
TRIAL.report()
