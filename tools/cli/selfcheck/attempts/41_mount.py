"""Mount, unmount, change the root

By: seccomp, caps, userns
"""
os.mkdir("here")
for what, call in (("tmpfs", lambda: raw("mount", b"none", b"here", b"tmpfs", 0, None)),
                   ("proc", lambda: raw("mount", b"none", b"here", b"proc", 0, None)),
                   ("bind /", lambda: raw("mount", b"/", b"here", None, 4096, None)),
                   ("remount writable", lambda: raw("mount", None, b"/", None, 32, None)),
                   ("umount", lambda: raw("umount2", b"/tmp", 2)),
                   ("pivot_root", lambda: raw("pivot_root", b".", b"here")),
                   ("chroot", lambda: raw("chroot", b"here")),
                   ("open_tree", lambda: raw("open_tree", AT_FDCWD, b"/", 1)),
                   ("move_mount", lambda: raw("move_mount", AT_FDCWD, b"/", AT_FDCWD, b"here", 0)),
                   ("fsopen", lambda: raw("fsopen", b"tmpfs", 0))):
    TRIAL.attempt(what, call, *REFUSED)
TRIAL.report()
