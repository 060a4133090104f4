"""A Python environment on a slow disk: file by file, against the one file that `zygo image pack` made of it."""
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from ..programs import ONE_THREAD
from ..report import Section
from ..setting import Setting
from ..slow_disk import slow_disk
from ..system import BenchError, HostLacks, progress, ratios, spread

DELAY_MS = 1.0  # for each name, open, list and read: a busy network file system
MODULES = ("numpy", "pandas")
WITH_THEM = ("dateutil", "pytz", "six.py")  # what pandas imports


def packed(setting: Setting) -> list[Section]:
    section = Section("packed", "seconds from process start to exit, one job that has numpy and pandas; each look at the "
                                f"disk {DELAY_MS:g} ms")
    with tempfile.TemporaryDirectory(prefix="zygo-bench-", dir="/var/tmp") as folder:
        try:
            section.records.append(_measure(setting, Path(folder)))
        except HostLacks as lack:
            section.skipped.append(str(lack))
    return [section]


def _measure(setting: Setting, folder: Path) -> dict:
    folder.chmod(0o755)
    shared, disk = folder / "shared", folder / "disk"
    for made in (shared, disk):
        made.mkdir()
    # Under the name that it will have behind the slow disk, where all of its paths lead.
    venv, archive = disk / "venv", disk / "env.tar.zst"
    _make_venv(setting.python, venv)
    _zygo(setting, folder / "packing", "image", "pack", "--quiet", "--venv", str(venv), "-o", str(archive))
    files = sum(len(names) for _, _, names in os.walk(venv))
    size = archive.stat().st_size / 2**20
    for name in os.listdir(disk):
        shutil.move(disk / name, shared / name)
    by_files, first, later, looks = [], [], [], {}
    for number in range(min(setting.effort.rounds, 5)):
        progress(f"packed: {number + 1}")
        home = folder / f"home-{number}"
        for side, seconds, python in (("file_by_file", by_files, venv / "bin/python3"), ("packed_first", first, archive),
                                      ("packed_later", later, archive)):
            with slow_disk(shared, disk, DELAY_MS) as asked:
                seconds.append(_start(setting, home, str(python)))
            looks[f"{side}_looks"] = asked.count
    return {"files": files, "archive_mb": size, "starts": len(first), "file_by_file_s": spread(by_files),
            "packed_first_s": spread(first), "packed_later_s": spread(later), **looks,
            "file_by_file/first": ratios(by_files, first), "file_by_file/later": ratios(by_files, later)}


def _make_venv(python: str, venv: Path) -> None:
    subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], check=True, capture_output=True)
    (site,) = venv.glob("lib/python3*/site-packages")
    for name in (*MODULES, *WITH_THEM):
        source = Path("/usr/lib/python3/dist-packages", name)
        if not source.exists():
            raise HostLacks(f"{source} is not there (python3-pandas)")
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, site / name)


def _start(setting: Setting, home: Path, python: str) -> float:
    begin = time.perf_counter()
    said = _zygo(setting, home, "run", "--quiet", "--python", python, "--preload", ",".join(MODULES), "-",
                 program=b"import pandas; print(pandas.__file__)")
    seconds = time.perf_counter() - begin
    if b"site-packages/pandas" not in said:
        raise BenchError(f"packed: another pandas was used: {said!r}")
    return seconds


def _zygo(setting: Setting, home: Path, *arguments: str, program: bytes = b"") -> bytes:
    ended = subprocess.run([str(setting.zygo), *arguments], input=program, capture_output=True, check=False,
                           env={**os.environ, **ONE_THREAD, "ZYGO_HOME": str(home)})
    if ended.returncode:
        raise BenchError(f"zygo {arguments[0]} ended with {ended.returncode}: {ended.stderr[-300:].decode(errors='replace')}")
    return ended.stdout
