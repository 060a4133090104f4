"""The Debian package: the tree below /usr, the Python package where Debian's python3 looks, the units of the service. It runs
on every Debian from 11 on. The service is not started by installing: it wants tokens or a word that anyone may call."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path
from typing import Dict, Tuple

Content = Tuple[bytes, bool]  # and whether it is executable

CONTROL = """Package: zygo
Version: {version}-1
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {size}
Depends: libc6 (>= 2.31)
Recommends: python3 (>= 3.9)
Suggests: libzmq5, python3-cloudpickle, python3-numpy
Section: utils
Priority: optional
Description: runs untrusted programs, each in a fresh sandbox
 Zygo runs untrusted programs and reports exactly how each one ended. Python
 programs start in the memory of an interpreter that is already warm and
 already confined; programs of a dozen other languages are compiled once and
 run many times.
 .
 This package has the program zygo, its service for systemd, which is not
 started by itself, and the Python package.
"""


COPYRIGHT = """Zygo. The authors of zygo.
License: Apache-2.0, of which /usr/share/common-licenses/Apache-2.0 has the text.

Code of these Debian packages is linked in, or lies beside the program; what follows is what they say of it.
"""

CHANGES = """zygo ({version}-1) unstable; urgency=medium

  * What changed is in changelog.gz.

 -- {maintainer}  {date}
"""


def _packed(text: bytes) -> bytes:
    return gzip.compress(text, 9, mtime=0)


def layout(tree: Dict[str, Content], package: Dict[str, bytes], units: Dict[str, bytes],
           shared: Dict[str, bytes]) -> Dict[str, Content]:
    """All files by their places. `shared`: the documents."""
    found: Dict[str, Content] = {}
    for path, (content, executable) in tree.items():
        manual = path.startswith("share/man/")
        place = path.replace("share/zsh/site-functions", "share/zsh/vendor-completions")
        found[f"usr/{place}.gz" if manual else f"usr/{place}"] = (_packed(content) if manual else content, executable)
    found.update({f"usr/lib/python3/dist-packages/{path}": (content, False) for path, content in package.items()})
    found.update({f"usr/lib/systemd/system/{name}": (content, False) for name, content in units.items()})
    found.update({f"usr/share/doc/zygo/{path}": (content, False) for path, content in shared.items()})
    return found


def documents(version: str, maintainer: str, epoch: int, notices: Dict[str, bytes], changes: bytes) -> Dict[str, bytes]:
    """What Debian wants in share/doc, of what other packages have as licenses and lists."""
    licenses = [f"\n\n==== {name.rpartition('/')[2]}\n\n".encode() + text
                for name, text in sorted(notices.items()) if "/third-party/" in name]
    date = formatdate(epoch, localtime=False).replace("-0000", "+0000")
    return {**{name.rpartition("/")[2]: text for name, text in notices.items() if name.startswith("sboms/")},
            "copyright": COPYRIGHT.encode() + b"".join(licenses), "changelog.gz": _packed(changes),
            "changelog.Debian.gz": _packed(CHANGES.format(version=version, maintainer=maintainer, date=date).encode())}


def make(folder: Path, version: str, maintainer: str, epoch: int, files: Dict[str, Content]) -> Path:
    path = folder / f"zygo_{version}-1_amd64.deb"
    with tempfile.TemporaryDirectory(prefix="zygo-deb-") as holder:
        root = Path(holder) / "root"
        for name, (content, executable) in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o755 if executable else 0o644)
        about = root / "DEBIAN"
        about.mkdir()
        size = sum(-(-len(content) // 1024) for content, _ in files.values())
        (about / "control").write_text(CONTROL.format(version=version, maintainer=maintainer, size=size))
        (about / "md5sums").write_text("".join(f"{hashlib.md5(content).hexdigest()}  {name}\n"
                                               for name, (content, _) in sorted(files.items())))
        for place in [root, *root.rglob("*")]:
            if place.is_dir() or place.parent == about:
                place.chmod(0o755 if place.is_dir() else 0o644)
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zxz", str(root), str(path)], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})
    return path
