"""One function per isolation layer: True when the program notices that the layer is missing.

Arguments: the layer's name, and what the host prepared, as JSON. Prints the answer as JSON.
"""
import ctypes
import json
import os
import resource
import socket
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)
HOST = json.loads(sys.argv[2])
PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS = 23, 39
EPERM, ESRCH, ENOENT = 1, 3, 2


def userns():
    """A capability that counts on the host: a lower niceness needs CAP_SYS_NICE in the first user namespace."""
    try:
        os.nice(-1)
    except OSError:
        return False
    return True


def pidns():
    """A process of the host can be named: EPERM, too, says that it is there."""
    try:
        os.kill(HOST["pid"], 0)
    except OSError as error:
        return error.errno != ESRCH
    return True


def mntns():
    return os.path.exists(HOST["file"])


def netns():
    try:
        with socket.create_connection(("127.0.0.1", HOST["port"]), 2):
            return True
    except OSError:
        return False


def ipcns():
    """A System V segment of the host, by its key."""
    return libc.shmget(HOST["key"], 0, 0) >= 0 or ctypes.get_errno() != ENOENT


def utsns():
    return os.uname().nodename == HOST["name"]


def cgroupns():
    """The path of one's own group, as the host knows it."""
    with open("/proc/self/cgroup") as file:
        return any(line.rstrip("\n").split(":", 2)[2] != "/" for line in file)


def cgroup_memory():
    """Far more than the limit, held at once."""
    return len(b"\xff" * (192 << 20)) > 0


def cgroup_pids():
    never = threading.Event()
    for _ in range(40):
        threading.Thread(target=never.wait, daemon=True).start()
    return True


def landlock():
    """A file of the host that anybody may write."""
    try:
        with open(HOST["file"], "a") as file:
            file.write("noticed")
    except OSError:
        return False
    return True


def seccomp():
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def uid():
    return 0 in os.getresuid()


def caps():
    return any(libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1 for number in range(41))


def nnp():
    return libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1


def rlimits():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] != HOST["open_files"]


def fds():
    """Any descriptor beyond the three streams."""
    for number in range(3, 1024):
        try:
            os.fstat(number)
            return True
        except OSError:
            pass
    return False


def scratch():
    """A working directory with more room than the job was granted."""
    room = os.statvfs(".")
    return room.f_blocks * room.f_frsize > HOST["disk_bytes"]


print(json.dumps(globals()[sys.argv[1].replace(".", "_")]()))
