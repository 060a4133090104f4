"""See mounts, /sys and /proc

By: mntns, landlock
"""
NO = (*REFUSED, *ABSENT)


def content(path):
    with open(path, "rb") as file:
        return file.read(4096)


for path in ("/proc/mounts", "/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/1/environ", "/proc/1/maps",
             "/proc/kallsyms", "/proc/kcore", "/proc/sys/kernel/core_pattern", "/sys/kernel/notes",
             "/sys/class/dmi/id/product_uuid", "/sys/fs/cgroup/cgroup.procs"):
    TRIAL.attempt(path, lambda path=path: content(path), *NO)
for path in ("/proc", "/sys", "/sys/class", "/proc/1/root", "/proc/1/cwd", "/root", "/home", "/boot", "/run",
             "/sys/fs/cgroup", os.path.dirname(FACTS["canary"])):
    TRIAL.attempt(f"list {path}", lambda path=path: os.listdir(path) or (_ for _ in ()).throw(FileNotFoundError(2, "")),
                  *NO)
TRIAL.report()
