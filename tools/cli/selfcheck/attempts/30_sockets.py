"""Open sockets of any kind

By: seccomp
"""
import socket

KINDS = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "raw": socket.SOCK_RAW,
         "seqpacket": socket.SOCK_SEQPACKET}
FAMILIES = {"inet": (2, "stream datagram raw"), "inet6": (10, "stream datagram raw"), "unix": (1, "stream datagram"),
            "netlink": (16, "raw datagram"), "packet": (17, "raw datagram"), "vsock": (40, "stream datagram"),
            "alg": (38, "seqpacket"), "bluetooth": (31, "raw"), "can": (29, "raw"), "xdp": (44, "raw"),
            "key": (15, "raw")}
for family, (number, kinds) in FAMILIES.items():
    # To who looks for IPv6 the filter says that there is none.
    answers = (*REFUSED, errno.EAFNOSUPPORT) if family == "inet6" else REFUSED
    for kind in kinds.split():
        TRIAL.attempt(f"{family} {kind}", lambda: socket.socket(number, KINDS[kind]).close(), *answers)
        TRIAL.attempt(f"{family} {kind}, raw", lambda: raw("socket", number, int(KINDS[kind]), 0), *answers)
# The filter lets this pass for the name service, but it must not be a socket either.
AS_NSCD = socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
TRIAL.attempt("unix, as nscd's", lambda: raw("socket", 1, AS_NSCD, 0), *REFUSED)
TRIAL.report()
