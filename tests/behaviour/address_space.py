"""Programs that do what they can to their own address space, by the C library's syscall()."""

from __future__ import annotations

# Such a program begins with this: the C library, and one address in each kind of area.
NATIVE = """import ctypes, gc, mmap, os, signal, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *words): return libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(w & (1 << 64) - 1) for w in words))
page = lambda address: address & ~4095
fs = ctypes.c_ulong()
call(158, 0x1003, ctypes.addressof(fs))
AREAS = [page(a) for a in (id(7), ctypes.cast(libc.printf, ctypes.c_void_p).value, ctypes.addressof(ctypes.c_int.in_dll(libc, "stdout")),
         ctypes.cast(ctypes.c_void_p.in_dll(libc, "environ").value, ctypes.c_void_p).value, fs.value, call(12, 0) - 1)]
"""

# Calls that change or ask an address space, in an order that `@SEED@` gives, on addresses of all kinds.
RANDOM_CALLS = NATIVE + """
state = @SEED@
def draw(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
    return (state >> 33) % n
mapped = []
def where():
    pools = [AREAS, mapped or AREAS, [call(12, 0) & ~4095], [draw(1 << 35) * 4096]]
    return pools[draw(4)][0] + 4096 * (draw(5) - 2) if draw(4) == 0 else (lambda pool: pool[draw(len(pool))])(pools[draw(4)])
length = lambda: [1, 4096, 8192, 1 << 20, 1 << 21, 1 << 33][draw(6)]
def put():
    if mapped:
        try: libc.read(zeros, ctypes.c_void_p(where()), ctypes.c_size_t(4096))
        except OSError: pass
zeros = os.open("/dev/zero", os.O_RDONLY) if os.path.exists("/dev/zero") else os.pipe()[0]
os.set_blocking(zeros, False)
CALLS = [lambda: mapped.append(call(9, 0, length() % (1 << 22), draw(4), 0x22, -1, 0)), lambda: call(9, where(), length(), draw(4), 0x32, -1, 0),
         lambda: call(9, where(), length(), draw(4), 0x122, -1, 0), lambda: call(10, where(), length(), draw(4)),
         lambda: call(11, where(), length()), lambda: call(12, call(12, 0) + draw(1 << 22) - (1 << 20)),
         lambda: call(25, where(), length(), length(), draw(8), where()), lambda: call(26, where(), length(), draw(8)),
         lambda: call(28, where(), length(), (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 20, 21, 22, 23, 25, 102, 103)[draw(17)]),
         lambda: call(149 + draw(2), where(), length()), lambda: call(151, draw(8)), lambda: call(152),
         lambda: call(325, where(), length(), draw(2)), lambda: call(329, where(), length(), draw(4), draw(2) - 1), lambda: call(330 + draw(2), draw(3), 0),
         lambda: call(218, where()), lambda: call(273, where(), 24), lambda: call(324, draw(256), 0), lambda: call(131, 0, 0), put]
for _ in range(60): CALLS[draw(len(CALLS))]()
"""
