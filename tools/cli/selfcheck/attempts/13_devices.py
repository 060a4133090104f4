"""Open or make devices

By: mntns, landlock, caps, seccomp
"""
NO = (*REFUSED, *ABSENT, errno.EROFS, errno.ENXIO, errno.ENODEV)
for device in ("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "fuse", "kvm", "net/tun", "tty", "tty0", "ptmx",
               "vhost-net", "loop-control", "mapper/control"):
    TRIAL.attempt(device, lambda device=device: os.open("/dev/" + device, os.O_RDWR), *NO)
for kind, number in (("block", 0o060666), ("char", 0o020666)):
    TRIAL.attempt(f"mknod {kind}", lambda number=number: raw("mknodat", AT_FDCWD, b"node", number, 0x101), *NO)
TRIAL.report()
