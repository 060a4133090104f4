# zygo: {"label": "OK", "stdout": "False\n"}
import socket


# As urllib3 does when it is imported.
def has_ipv6():
    if not socket.has_ipv6:
        return False
    try:
        sock = socket.socket(socket.AF_INET6)
        sock.bind(("::1", 0))
        sock.close()
    except Exception:
        return False
    return True


print(has_ipv6())
