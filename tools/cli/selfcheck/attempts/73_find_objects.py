"""Find IPC objects, keys, sockets left

After: 72_leave_objects
Ends: OK, UnsafeCode
"""
import socket

NO = (*REFUSED, errno.ENOENT, errno.ENOSYS, errno.ECONNREFUSED)
key = FACTS["key"] + 1


def connect():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
        mine.connect("\0zygo-left")


TRIAL.attempt("shared memory", lambda: raw("shmget", key, 0, 0), *NO)
TRIAL.attempt("semaphores", lambda: raw("semget", key, 0, 0), *NO)
TRIAL.attempt("a message queue", lambda: raw("msgget", key, 0), *NO)
TRIAL.attempt("a key", lambda: raw("keyctl", 10, -4, b"user", b"zygo-left", 0), *NO, errno.ENOKEY)
TRIAL.attempt("an abstract socket", connect, *NO)
TRIAL.report()
