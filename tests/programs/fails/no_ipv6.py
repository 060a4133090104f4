# zygo: {"label": "OSError", "exception": {"type": "OSError", "message": "EAFNOSUPPORT"}}
import errno
import socket

try:
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
except OSError as error:
    raise OSError(errno.errorcode[error.errno])
