"""What honest programs do to memory, files and the interpreter: the actions of which random histories are made."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

FIRST = """
import array, contextvars, ctypes, decimal, gc, io, itertools, locale, mmap, os, random, re, signal, stat, struct, sys, threading, zlib
from concurrent.futures import ThreadPoolExecutor
here = lambda name: os.path.join(os.environ["HOME"], name)
C = ctypes.CDLL(None)
C.malloc.restype = C.calloc.restype = C.realloc.restype = C.memalign.restype = ctypes.c_void_p
for each in (C.malloc, C.calloc, C.realloc, C.memalign, C.free, C.malloc_trim, C.mprotect, C.munmap):
    each.argtypes = [ctypes.c_size_t] * 3
C.mmap.restype, C.mmap.argtypes, C.getenv.restype = ctypes.c_void_p, [ctypes.c_size_t] * 6, ctypes.c_char_p
string, PRIVATE = ctypes.string_at, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
def fill(n, k=1):
    return ((k * 0x9E3779B97F4A7C15 % (1 << 64) | 1).to_bytes(8, 'big') * (n // 8 + 1))[:n]
def blocks(k, total, most, make=fill):
    chance, made = random.Random(k), []
    while total > 0 and len(made) < 20_000:
        made.append(make(min(total, int(most ** chance.uniform(0.4, 1)))))
        total -= len(made[-1])
    return made
def same(size, total, make=fill):
    return [make(size + i % 99) for i in range(min(20_000, 1 + total // size))]
def lose(some, k, part):
    random.Random(k).shuffle(some)
    del some[int(len(some) * part):]
def crc(some):
    found = 0
    for each in some: found = zlib.crc32(each, found)
    return found
def dirty(some):
    return sum(len(each) - each.count(0) for each in some)
def put(pointer, content):
    ctypes.memmove(pointer, content, len(content))
def thread(work):
    one = threading.Thread(target=work)
    one.start()
    one.join()
def deep(n):
    return n and 1 + next(map(deep, [n - 1]))
def counting(n):
    for i in itertools.count():
        try: n += (yield i * n) or 1
        finally: i += 1
class Cycle:
    def __init__(self): self.me = self
    def __del__(self): globals()['gone'] += 1
gone = 0
def flags(number):
    action = ctypes.create_string_buffer(152)
    C.sigaction(number, None, action)
    return int.from_bytes(action.raw[136:140], 'little')
def tree():
    found = []
    for path, folders, files in os.walk(here(".")):
        for name in folders + files:
            name = os.path.join(path, name)
            status = os.lstat(name)
            is_drawn = name.endswith("-journal")  # SQLite's, with a number of chance in it
            file = stat.S_ISREG(status.st_mode) and (status.st_nlink, is_drawn or crc([open(name, "rb").read()]))
            found.append((os.path.relpath(name, here(".")), oct(status.st_mode), file, status.st_mtime == 77))
    return sorted(found)
"""


class Kind(NamedTuple):
    """Code on an object: `$x` is its name, `$n` and the like are further variables, and `$size` and the like are drawn."""

    make: str
    check: str  # leaves it as it is
    changes: tuple[str, ...]
    end: str = ""


MEMORY = {
    "garbage": Kind("$x = same($block, 30_000_000); $x.clear()", "dirty(same($block, 900_000, bytes))",
        ("$x = same($block, 9_000_000); lose($x, $k, 0)", "$x = same($block, 9_000_000, bytes)", "$x.clear()")),
    "bytearray": Kind("$x = bytearray(fill($size, $k))", "crc([$x])", ("$x += fill($size, $k)", "del $x[len($x) // $few:]",
        "$x[::4096] = fill(len($x[::4096]), $k)", "$x.clear()")),
    "blocks": Kind("$x = blocks($k, $total, $size + 64)", "crc($x)", ("lose($x, $k, $part)", "$x += blocks($k, $total, $size + 64)",
        "$x = same($size, 4_000_000)", "$x.reverse()", "random.Random($k).shuffle($x); $x[::$few] = map(bytearray, $x[::$few])")),
    "zeros": Kind("$x = blocks($k, $total, $block, bytes)", "dirty($x)", ("lose($x, $k, $part)",
        "$x += blocks($k, $total, $size + 64, bytearray)", "$x = same($block, $total, bytes)")),
    "calloc": Kind("$x = [(C.calloc(1, n, 0), n) for n in map(len, blocks($k, $total, $size + 64))]",
        "dirty([string(*each) for each in $x])", ("for i in range(len($x) // $few): C.free($x.pop()[0], 0, 0)",),
        "for each, _ in $x: C.free(each, 0, 0)"),
    "malloc": Kind("$n = $size; $x = C.malloc($n, 0, 0); put($x, fill($n, $k))", "crc([string($x, $n)])",
        ("$m = $n; $n = $size; $x = C.realloc($x, $n, 0); put($x + min($m, $n), fill($n - min($m, $n), $k))",
        "put($x, fill($n // $few, $k))", "C.free($x, 0, 0); $n = $size; $x = C.memalign(4096, $n, 0); put($x, fill($n, $k))"),
        "C.free($x, 0, 0)"),
    "allocator": Kind("$x = 0", "$x", ("C.malloc_trim(0, 0, 0)", "C.mallopt(-1, $size)", "C.mallopt(-2, $size)", "C.mallopt(-3, $size)",
        "C.mallopt(-6, $few)", "gc.collect()")),
    "mmap": Kind("$x = mmap.mmap(-1, $size, flags=PRIVATE)", "crc([$x[:]])", ("$i = len($x) // $few; $x[$i:] = fill(len($x) - $i, $k)",
        "$x.resize($size)", "$x[::4096] = fill(len($x[::4096]), $k)", "$x.madvise(mmap.MADV_DONTNEED, 0, len($x) // $few)")),
    "pages": Kind("$n = $few; $x = C.mmap(0, $n * 4096, 3, PRIVATE, 2**64 - 1, 0)", "crc([string($x, $n * 4096)])",
        ("C.mprotect($x, $n * 4096, 3); put($x, fill($n * 4096, $k)); C.mprotect($x, $n // 2 * 4096, 1)", "C.mprotect($x, $n * 4096, 1)",
        "C.munmap($x + ($n - 1) * 4096, 4096, 0); C.mmap($x + ($n - 1) * 4096, 4096, 3, PRIVATE | 16, 2**64 - 1, 0)",
        "$r = C.mmap(0, 2**26, 0, PRIVATE, 2**64 - 1, 0); C.mprotect($r + 8192, 4096, 3); put($r + 8192, b'kept')"),
        "C.munmap($x, $n * 4096, 0)"),
    "mapped file": Kind(
        "open(here('$x'), 'wb').write(fill($size, $k)); $f = open(here('$x'), 'rb'); $x = mmap.mmap($f.fileno(), 0, access=mmap.ACCESS_COPY)",
        "crc([$x[:]])", ("$x[::$few] = fill(len($x[::$few]), $k)", "$x[:9] = fill(len($x[:9]), $k)", "$f.close()", "$x.madvise(mmap.MADV_DONTNEED)")),
    "thread": Kind("$x = []; thread(lambda: $x.extend(blocks($k, $total, $size + 64)))", "crc($x)", ("thread(lambda: lose($x, $k, $part))",
        "thread(lambda: $x.extend(blocks($k, $total, $size + 64)))", "lose($x, $k, $part)",
        "with ThreadPoolExecutor(4) as $p: $x += $p.map(fill, range($size, $size + 4))",
        "$t = [threading.Thread(target=$x.append, args=(fill($size, 3),)) for i in range(4)]\n[t.start() for t in $t]; [t.join() for t in $t]; $t = 0")),
    "table": Kind("$x = {i * $k: str(i) for i in range($few * 900)}; $s = set()",
        "(len($x), sum($x), crc(map(str.encode, $x.values())), sum($s))", ("for i in range(len($x) // 2): $x.popitem()",
        "$x.update((i, bytes(3).hex()) for i in range($k, $k * 5))", "$s ^= set(range($k, $k * $few))")),
}
OTHERS = {
    "deep": Kind("sys.setrecursionlimit(9_000); $x = deep($k)", "$x",
        ("sys.setrecursionlimit(9_000); thread(lambda: globals().update($x=deep($k * 3)))",)),
    "suspended": Kind("$x = counting($k); next($x); $i = itertools.accumulate(itertools.cycle(range($few))); $v = []", "$v",
        ("$v = [next($x), $x.send($few), *itertools.islice($x, $few)][-3:]", "$v.append(next($i) + next($i))")),
    "coroutine": Kind("import asyncio\nasync def $f():\n  for i in range(999): await asyncio.sleep(0)\n$x = $f(); $x.send(None)",
        "$x.cr_frame.f_locals", ("$x.send(None)",)),
    "cycles": Kind("$x = gone", "$x", ("[Cycle() for i in range($k)] and gc.collect(); gc.collect(); $x = gone", "gc.freeze()",
        "gc.unfreeze()", "gc.disable()", "gc.enable()")),
    "parser": Kind("import xml.etree.ElementTree as $e\n$x = $e.XMLPullParser(); $x.feed('<a>'); $n = 0", "$n",
        ("$x.feed('<b>$k</b>' * $few + '<c'); $n += sum(int(each.text or 0) for _, each in $x.read_events()); $x.feed('/>')",)),
    "imports": Kind("import importlib; $x = [importlib.import_module('$module')]", "[each.__name__ for each in $x]",
        ("$x.append(importlib.import_module('$module'))",)),
    "local": Kind("$x = threading.local(); $x.v = contextvars.ContextVar('$x', default=[$k])", "$x.v.get()", ("$x.v.set([$k])",)),
    "random": Kind("$x = random.Random($k); random.seed($k)", "crc([repr([$x.getstate(), random.getstate()]).encode()])",
        ("$x.random(); random.gauss(0, 1)",)),
    "numbers": Kind("decimal.getcontext().prec = $few + 3; $x = decimal.Decimal(2).sqrt(); $a = array.array('d', range($k))",
        "(str(+$x), sum($a))", ("decimal.getcontext().prec = $few; $x = $x.exp().ln() / 3",
        "decimal.getcontext().rounding = decimal.ROUND_UP", "$a.extend(range($k * $few))")),
    "re": Kind("$x = re.compile('(a{$few})+|$x')", "$x.sub('b', 'a' * 99)", ("[re.search(f'a{{{i}}}', '$x') for i in range($few)]",)),
    "sqlite": Kind("import sqlite3\n$x = sqlite3.connect(':memory:'); $x.execute('create table t (k, v)')",
        "$x.execute('select count(*), sum(k), sum(length(v)) from t').fetchall()",
        ("$x.executemany('insert into t values (?, ?)', [(i, fill(i * $few)) for i in range($few * 20)])", "$x.commit()", "$x.rollback()",
        "$x.execute('delete from t where k % ? = 0', [$few])", "$x.execute('create index if not exists i on t (k)')")),
    "database": Kind(
        "import sqlite3\n$x = sqlite3.connect(here('$x'), timeout=0); $x.execute('create table t (k, v)'); $v = []",
        "($v, $x.in_transaction, $x.execute('select count(*), sum(k), sum(length(v)) from t').fetchall())",
        ("$x.executemany('insert into t values (?, ?)', [(i, fill(i * $few)) for i in range($few * 20)])", "$x.commit()", "$x.rollback()",
        "$x.execute('delete from t where k % ? = 0', [$few])",
        "try: $t = sqlite3.connect(here('$x'), timeout=0); $t.execute('insert into t values ($k, 0)'); $t.commit(); $v.append(1)\n"
        "except sqlite3.OperationalError as e: $v.append(str(e))\nfinally: $t.close()"),
        "$x.close(); os.unlink(here('$x'))"),
    "compressors": Kind(
        "import bz2, lzma\n$x = [zlib.compressobj($few % 10), bz2.BZ2Compressor(), lzma.LZMACompressor(preset=1)]; $v = [b''] * 3; $n = 0",
        "$n", ("$d = fill($size // 9, $k); $v = [v + x.compress($d) for v, x in zip($v, $x)]",
        "$n = [crc([m.decompress(v + x.flush())]) for m, v, x in zip([zlib, bz2, lzma], $v, $x)]; "
        "$x[:] = zlib.compressobj(), bz2.BZ2Compressor(), lzma.LZMACompressor(preset=$few % 3); $v = [b''] * 3")),
    "hash": Kind("import hashlib\n$x = hashlib.$algorithm(fill($size, $k))", "$x.hexdigest()", ("$x.update(fill($size, $k))",
        "$x = $x.copy()")),
    "buffer": Kind("$x = io.BytesIO(); $x.write(fill($size, $k))", "($x.tell(), crc([$x.getvalue()]))",
        ("$x.seek($k); $x.write(fill($size, $k))", "$x.truncate($k)", "$x.write(struct.pack('<Qd', $k, $part))")),
    "file": Kind("$x = open(here('$x'), 'w+b', buffering=$k * 9)",
        "($x.flush(), $x.tell(), os.fstat($x.fileno()).st_size, os.get_inheritable($x.fileno()))", ("$x.write(fill($size // 9, $k))",
        "$x.seek($k); $x.read($few)", "$x.truncate($size // 9)", "os.set_inheritable($x.fileno(), $few > 9)",
        "$x.seek($size // 9); $x.write(b'hole')"), "$x.close(); os.unlink(here('$x'))"),
    "log": Kind("$x = open(here('$x'), 'a'); $d = os.dup($x.fileno())", "($x.flush(), os.lseek($d, 0, 1))", ("$x.write('$x' * $few)",
        "$x.flush(); os.write($d, b'$x')", "os.ftruncate($d, $few)", "os.fchmod($d, 0o600 + $few)", "os.utime(here('$x'), (77, 77))"),
        "$x.close(); os.close($d)"),
    "folder": Kind("os.makedirs(here('$x/a/b')); $x = '$x'", "$x", ("open(here(f'{$x}/a/$k'), 'wb').write(fill($size // 9, $k))",
        "os.rename(here($x), here('$x-$k')); $x = '$x-$k'", "os.chdir(here($x))",
        "$t = here(f'{$x}/soft-$few'); os.path.lexists($t) or os.symlink('a', $t)", "os.chdir(here('.'))", "os.utime(here($x), (77, 77))",
        "open(here(f'{$x}/1'), 'w').write('$k'); $t = here(f'{$x}/a/b/$few'); os.path.lexists($t) or os.link(here(f'{$x}/1'), $t)",
        "for each in os.listdir(here(f'{$x}/a/b')): os.unlink(here(f'{$x}/a/b/{each}'))")),
    "process": Kind("$x = os.umask(0o27); os.environ['$x'] = '$k'",
        "($x, os.environ.get('$x'), C.getenv(b'$x'), os.path.relpath(os.getcwd(), here('.')))", ("$x = os.umask(0o77)",
        "$x = os.umask(0o22)", "open(here('$x$k'), 'w').close()", "os.environ['$x'] = '$k' * $k", "os.environ.pop('$x', 0)")),
    "signal": Kind("$x = []; signal.signal(signal.SIGUSR1, lambda *a: $x.append($k))",
        "($x, flags(signal.SIGUSR1), *sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))", ("signal.raise_signal(signal.SIGUSR1)",
        "signal.siginterrupt(signal.SIGUSR1, $few > 9)", "import faulthandler; faulthandler.enable()",
        "signal.signal(signal.SIGUSR2, signal.SIG_IGN); signal.raise_signal(signal.SIGUSR2)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, [40 + $few])", "signal.pthread_sigmask(signal.SIG_UNBLOCK, range(40, 60))"),
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN)"),
    "rounding": Kind("$x = [1.0]", "(C.fegetround(), $x)", ("C.fesetround($few % 4 << 10)", "$x.append($x[-1] / 3 + $part)"),
        "C.fesetround(0)"),
    "settings": Kind("$x = locale.setlocale(locale.LC_ALL, 'C')",
        "(locale.setlocale(locale.LC_ALL), gc.get_threshold(), sys.getswitchinterval(), gc.isenabled())",
        ("locale.setlocale(locale.LC_ALL, 'C.UTF-8')", "locale.setlocale(locale.LC_CTYPE, 'C')", "gc.set_threshold($k, $few)",
        "sys.setswitchinterval(0.0$k)")),
}
NUMPY = {
    "array": Kind("import numpy as np\n$x = np.arange($size, dtype=np.int32)", "($x.shape, crc([np.ascontiguousarray($x).data]))",
        ("$x = np.concatenate([$x.ravel(), np.arange($k, dtype=np.int32)])", "$x = $x[::2]",
        "$x = $x.ravel()[:len($x) // 2 * 2].reshape(2, -1).T", "$x = $x * $few", "$x = np.zeros($size, dtype=np.int32)")),
    "chance": Kind("import numpy as np\n$x = np.random.default_rng($k); np.random.seed($k)",
        "crc([repr([$x.bit_generator.state, np.random.get_state()]).encode()])", ("$x.normal(size=$few); np.random.randn($few)",)),
    "linear": Kind("import numpy as np\n$x = np.eye($few)", "float(np.linalg.det($x))", ("$x = $x @ $x / 4 + np.eye(len($x))",
        "$x = np.sort($x, axis=0)")),
}
BEGINNINGS = ("", "same(4000, 30_000_000) and 0", "same($block, 30_000_000) and 0")
SIZES = (30, 500, 520, 1000, 4000, 4096, 30_000, 100_000, 131_072, 300_000, 1 << 20, 4 << 20)
DRAWS: dict[str, Callable[[random.Random], object]] = {
    "size": lambda chance: int(chance.choice(SIZES) * chance.uniform(0.9, 1.1)),
    "total": lambda chance: chance.choice((20_000, 200_000, 2_000_000, 5_000_000, 10_000_000)),
    "block": lambda chance: chance.choice((4000, 40_000, 100_000, 200_000)),
    "few": lambda chance: chance.randrange(1, 21),
    "k": lambda chance: chance.randrange(1, 1000),
    "module": lambda chance: chance.choice(("ssl", "zoneinfo", "curses", "xml.dom.minidom", "multiprocessing", "unittest.mock", "readline", "dbm")),
    "part": lambda chance: round(chance.random(), 2),
    "algorithm": lambda chance: chance.choice(("md5", "sha1", "sha256", "sha3_256", "blake2b", "blake2s")),
}
