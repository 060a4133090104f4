"""Connect: TCP, Unix, abstract

By: netns, landlock, seccomp
"""
import socket

NO = (*REFUSED, *ABSENT, errno.ECONNREFUSED, errno.ENETUNREACH, errno.ENETDOWN, errno.EISCONN)


def connect(family, kind, address):
    with socket.socket(family, kind) as mine:
        mine.settimeout(1)
        mine.connect(address)
        mine.send(b"escaped")


def through_a_pair(kind, address):
    mine, other = socket.socketpair(socket.AF_UNIX, kind)
    with mine, other:
        return mine.sendto(b"escaped", address)


TRIAL.attempt("TCP", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", FACTS["port"])), *NO)
TRIAL.attempt("UDP", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", FACTS["port"])), *NO)
TRIAL.attempt("a Unix path", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, FACTS["socket"]), *NO)
TRIAL.attempt("an abstract name", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + FACTS["abstract"]), *NO)
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
    TRIAL.attempt(f"from a {kind.name} pair", lambda: through_a_pair(kind, "\0" + FACTS["abstract"]), *NO,
                  errno.EOPNOTSUPP)
TRIAL.report()
