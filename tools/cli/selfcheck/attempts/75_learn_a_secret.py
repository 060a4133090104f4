"""Learn what an earlier job had in memory

After: 74_keep_a_secret
"""
import gc
import mmap

mark = b"-".join([b"earlier", b"secret", b""])


def mentions(thing):
    """More than the mark, which this program has itself."""
    if isinstance(thing, str):
        thing = thing.encode(errors="replace")
    return isinstance(thing, (bytes, bytearray)) and mark in thing and thing != mark


objects = gc.get_objects()
found = [type(each).__name__ for each in objects
         if isinstance(each, (list, tuple, dict)) and len(each) < 10000
         and any(mentions(part) for part in (each.values() if isinstance(each, dict) else each))]
TRIAL.check(f"{len(objects)} objects", not found, found or "nothing")
# Fresh memory must come as zeros: what allocators get from the kernel, and what the stack grows into.
fresh = mmap.mmap(-1, 16 << 20)
TRIAL.check("fresh memory", not any(memoryview(fresh)[::4096]), "zeros")
LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
unclean = 0
for size in (64, 256, 1024, 4096, 65536) * 200:
    unclean += mark in ctypes.string_at(LIBC.malloc(size), size)
TRIAL.check("malloc", not unclean, "nothing")
for number in range(3, 64):
    try:
        TRIAL.check(f"descriptor {number}", mark not in os.pread(number, 65536, 0), "nothing")
    except OSError:
        pass
TRIAL.report()
