"""Roots of Debian by mmdebstrap, from the mirror that apt is configured for: the C library that packages are linked against,
and clean roots with nothing but python3 and pip, in which packages are tried."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

NO_ROOT = 77  # exit code, where no root can be made: the mirror cannot be reached, mostly
RELEASES = {"11": "bullseye", "12": "bookworm", "13": "trixie"}
CLEAN = ("python3", "python3-pip", "python3-venv")
WANTED = ("python3-numpy", "python3-cloudpickle", "python3-pytest", "python3-joblib")  # by the programs of the ARC set, and tests
EARLIEST = "315532800"  # 1980: what zip archives begin with
HERE = Path(__file__).resolve().parent
INSIDE, OUTSIDE = HERE / "inside.py", HERE / "outside.py"


def say(text: str) -> None:
    print(f"package: {text}", file=sys.stderr, flush=True)


def mirror() -> str:
    """The first archive of Debian's that apt reads, without those of security updates."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], capture_output=True,
                            text=True, check=False).stdout.split()
    return next((uri for uri in listed if "security" not in uri), "http://deb.debian.org/debian").rstrip("/")


def _mmdebstrap(*arguments: str, sources: str = "", **environment: str) -> None:
    """`sources`: lines for apt; the mirror alone, if none are given."""
    ended = subprocess.run(["mmdebstrap", "--quiet", *arguments, "-" if sources else mirror()], input=sources,
                           capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if ended.returncode:
        say(f"mmdebstrap: {ended.stderr.strip()}")
        sys.exit(NO_ROOT)


def make_sysroot(folder: Path) -> None:
    if folder.is_dir():
        return
    say(f"fetching the C library of Debian 11 into {folder}")
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    _mmdebstrap("--variant=extract", "--include=libc6-dev,libgcc-10-dev", RELEASES["11"], str(fresh))
    for path in fresh.rglob("*"):  # within the sysroot, not out of it
        if path.is_symlink() and os.readlink(path).startswith("/"):
            target = fresh / os.readlink(path).lstrip("/")
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent))
    fresh.rename(folder)


def archive(release: str, kept: Path, *further: str) -> Path:
    """A clean root with python3 and pip, and with these packages."""
    path = kept / ("-".join([f"debian-{release}", *further]) + ".tar")
    if not path.exists():
        say(f"making a clean root of Debian {release}{' with ' if further else ''}{', '.join(further)}")
        kept.mkdir(parents=True, exist_ok=True)
        _mmdebstrap("--variant=minbase", "--format=tar", "--include=" + ",".join([*CLEAN, *further]), RELEASES[release],
                    f"{path}.new")
        os.rename(f"{path}.new", path)
    return path


def base(kept: Path) -> Path:
    """The root file system that the image is made of, with the security updates of the day when it was made. Two that are made
    of the same packages are equal, whenever: times are cut off at SOURCE_DATE_EPOCH, and python3's own compiled files, which
    otherwise know the times of their sources, know their digests then."""
    path = kept / "image-base.tar"
    if not path.exists():
        say("making the root file system of the image")
        kept.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                                 "Created-By: Packages", "Origin: Debian"], capture_output=True, text=True, check=False).stdout
        sources = sorted({line for line in listed.splitlines() if f" {RELEASES['12']}" in line})
        left_out = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("man", "info", "locale", "doc")]
        _mmdebstrap("--variant=minbase", "--format=tar", "--include=python3", *left_out,
                    "--dpkgopt=path-include=/usr/share/doc/*/copyright", RELEASES["12"], f"{path}.new",
                    sources="\n".join(sources), SOURCE_DATE_EPOCH=EARLIEST)
        os.rename(f"{path}.new", path)
    return path


def copy_tests(checkout: Path, place: Path) -> None:
    """What the Python tests and the ARC grader want beside them, without the package and the program."""
    for folder in ("tests/python", "tests/data/arc", "tools/graders", "docs"):
        shutil.copytree(checkout / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(checkout / "tools/python", place / "tools/python",
                    ignore=lambda folder, _: {"zygo"} if Path(folder) == checkout / "tools/python" else set())
    shutil.copy(OUTSIDE, place)


def _outside(checkout: Path, wheel: Path, packed: Path, *tried: str) -> Dict[str, Any] | None:
    """The report of the ARC set, or nothing; None where something failed."""
    with tempfile.TemporaryDirectory(prefix="zygo-root-", dir="/var/tmp") as holder:
        subprocess.run(["tar", "-C", holder, "-xf", packed], check=True)
        place = Path(holder) / "opt/outside"
        copy_tests(checkout, place)
        shutil.copy(wheel, place)
        codes = [subprocess.run([HERE / "enter", holder, "/usr/bin/python3", "-B", f"/opt/outside/{OUTSIDE.name}",
                                 f"/opt/outside/{wheel.name}", what], check=False).returncode for what in tried]
        told = place / "arc.json"
        return None if any(codes) else json.loads(told.read_bytes()) if told.exists() else {}


def check_outside(checkout: Path, wheel: Path, kept: Path) -> int:
    """0 when the Python tests pass against the installed wheel, and the ARC set has the labels that the checkout's zygo gives."""
    print("Debian 12, outside of the checkout", flush=True)
    bare = _outside(checkout, wheel, archive("12", kept), "tests")
    print(f"Debian 12 with {', '.join(WANTED)}, outside of the checkout", flush=True)
    ours = _outside(checkout, wheel, archive("12", kept, *WANTED), "tests", "arc")
    if bare is None or ours is None:
        return 1
    theirs = json.loads(subprocess.run([checkout / "tools/graders/arc", "--json", "--quiet", "--expected"], check=False,
                                       stdout=subprocess.PIPE).stdout or "{}")
    equal = all(ours[name] == theirs.get(name) for name in ("counts", "MEAN", "differences"))
    print(f"  {'the ARC set by the checkout: the same':<44} {'ok' if equal else f'FAILED {theirs}'}", flush=True)
    return int(not equal)


def check(wheel: Path, deb: Path, releases: List[str], kept: Path) -> int:
    """0 when both did in each root what `inside.py` asks of them."""
    failed = 0
    for release in releases:
        packed = archive(release, kept)
        with tempfile.TemporaryDirectory(prefix="zygo-root-", dir="/var/tmp") as holder:
            root = Path(holder)
            subprocess.run(["tar", "-C", holder, "-xf", packed], check=True)
            shutil.copy(wheel, root / "opt")
            shutil.copy(deb, root / "opt")
            shutil.copy(INSIDE, root / "opt/inside.py")
            print(f"Debian {release}", flush=True)
            patience = os.environ.get("ZYGO_TEST_PATIENCE") or "1"
            failed |= subprocess.run([HERE / "enter", holder, "/usr/bin/python3", "-B", "/opt/inside.py", f"/opt/{wheel.name}",
                                      f"/opt/{deb.name}", patience], check=False).returncode
    return int(bool(failed))
