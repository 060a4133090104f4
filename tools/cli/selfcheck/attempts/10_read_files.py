"""Read files of the host

By: mntns, landlock
"""
path, name = FACTS["canary"], os.path.basename(FACTS["canary"])


def read(where, **how):
    descriptor = os.open(where, os.O_RDONLY, **how)
    return os.read(descriptor, 4096)


def through_a_link():
    os.symlink(path, "link")
    return read("link")


GONE = (*REFUSED, *ABSENT, errno.EXDEV, errno.ELOOP)
for secret in (path, "/etc/shadow", "/etc/ssh/ssh_host_ed25519_key", "/root/.ssh/id_rsa", "/var/log/dmesg"):
    TRIAL.attempt(f"open {os.path.basename(secret)}", lambda secret=secret: read(secret), *GONE)
TRIAL.attempt("openat, raw", lambda: os.read(raw("openat", AT_FDCWD, path.encode(), 0), 4096), *GONE)
TRIAL.attempt("openat2, raw", lambda: raw("openat2", AT_FDCWD, path.encode(), (ctypes.c_uint64 * 3)(), 24), *GONE,
              errno.ENOSYS)
TRIAL.attempt("upwards", lambda: read("../" * 30 + path.lstrip("/")), *GONE)
TRIAL.attempt("link to it", through_a_link, *GONE)
TRIAL.attempt("hard link", lambda: os.link(path, "hard") or read("hard"), *GONE)
TRIAL.attempt("by /proc/1/root", lambda: read("/proc/1/root" + path), *GONE)
TRIAL.attempt("by /proc/self/root", lambda: read("/proc/self/root" + path), *GONE)
for number in range(3):
    TRIAL.attempt(f"from descriptor {number}", lambda: read("../" * 9 + path.lstrip("/"), dir_fd=number), *GONE)
TRIAL.report()
