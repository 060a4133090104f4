"""Write outside of the scratch

By: mntns, landlock, seccomp
"""
folder, file = FACTS["open_folder"], FACTS["open_file"]  # anybody may write to these, on the host
NO = (*REFUSED, *ABSENT, errno.EROFS, errno.EXDEV, errno.EOPNOTSUPP)
with open("mine", "w") as mine:
    mine.write("x")


def write(path, flags):
    return os.write(os.open(path, flags, 0o666), b"escaped")


for place in (folder, "/usr", "/etc", "/usr/lib/python3", "/var/tmp", "/", "/dev"):
    TRIAL.attempt(f"create in {place if place != folder else 'the open folder'}",
                  lambda place=place: write(f"{place}/zygo-escaped-{FACTS['token']}", os.O_WRONLY | os.O_CREAT), *NO)
TRIAL.attempt("create, raw", lambda: raw("openat", AT_FDCWD, f"{folder}/raw".encode(), os.O_WRONLY | os.O_CREAT, 0o666),
              *NO)
TRIAL.attempt("unnamed file", lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR), *NO)
TRIAL.attempt("append", lambda: write(file, os.O_WRONLY | os.O_APPEND), *NO)
TRIAL.attempt("truncate", lambda: os.truncate(file, 0), *NO)
TRIAL.attempt("chmod", lambda: os.chmod(file, 0o600), *NO)
TRIAL.attempt("utime", lambda: os.utime(file, (1, 1)), *NO)
TRIAL.attempt("setxattr", lambda: os.setxattr(file, "user.zygo", b"1"), *NO)
TRIAL.attempt("unlink", lambda: os.unlink(file), *NO)
TRIAL.attempt("mkdir", lambda: os.mkdir(folder + "/made"), *NO)
TRIAL.attempt("rename into", lambda: os.rename("mine", folder + "/moved"), *NO)
TRIAL.attempt("rename out", lambda: os.rename(file, "taken"), *NO)
TRIAL.attempt("link into", lambda: raw("linkat", AT_FDCWD, b"mine", AT_FDCWD, f"{folder}/linked".encode(), 0), *NO)
TRIAL.attempt("symlink", lambda: os.symlink("/", folder + "/symbolic"), *NO)
TRIAL.attempt("fifo", lambda: os.mkfifo(folder + "/fifo"), *NO)
TRIAL.report()
