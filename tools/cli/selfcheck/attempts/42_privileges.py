"""Gain capabilities, lose no_new_privs

By: caps, nnp, seccomp
"""
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
raw("capget", header, sets)
TRIAL.check("capabilities", not any(sets), "none" if not any(sets) else [hex(each) for each in sets])
TRIAL.check("no_new_privs", LIBC.prctl(39, 0, 0, 0, 0) == 1, LIBC.prctl(39, 0, 0, 0, 0))
TRIAL.check("seccomp", LIBC.prctl(21, 0, 0, 0, 0) == 2, LIBC.prctl(21, 0, 0, 0, 0))
for number in range(6):
    sets[number] = 0xffffffff
TRIAL.attempt("capset", lambda: raw("capset", header, sets), *REFUSED)
# The kernel itself knows no way back here; it calls the wish invalid.
TRIAL.attempt("no_new_privs off", lambda: raw("prctl", 38, 0, 0, 0, 0), *REFUSED, errno.EINVAL)
for what, arguments in (("keep capabilities", (8, 1)), ("securebits", (28, 0x2f)),
                        ("ambient", (47, 2, 21)), ("let anybody trace", (0x59616d61, -1)),
                        ("move the break", (35, 6, 4096)), ("seccomp off", (22, 0)), ("be a subreaper", (36, 1)),
                        ("speculation on", (53, 0, 2))):
    TRIAL.attempt(what, lambda: raw("prctl", *arguments, *(0,) * (5 - len(arguments))), *REFUSED)
TRIAL.attempt("a fixed address layout", lambda: raw("personality", 0x40000), *REFUSED)
TRIAL.report()
