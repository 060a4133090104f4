"""The image that tools/package writes, over a root file system of a few files: equal bytes in any folder, what an image layout
must be, started as the Dockerfile says. tools/package --check image makes the real one and runs it.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import zygo
from zygo import CHECKOUT, ZygoTestCase

sys.path.insert(0, str(CHECKOUT / "tools/packaging"))

import contents  # noqa: E402
import image  # noqa: E402
import oci  # noqa: E402
import oci_reader  # noqa: E402

VERSION = "1.2.3"
EPOCH = 1_700_000_000
STATUS = """Package: libc6
Status: install ok installed
Source: glibc (2.36-9)
Version: 2.36-9+deb12u10

Package: python3
Status: install ok installed
Version: 3.11.2-1+b1
"""
OF_THE_MACHINE = {"etc/hostname": b"builder", "etc/resolv.conf": b"nameserver 10.1.2.3",
                  "etc/apt/sources.list": b"deb http://mirror.internal/debian bookworm main"}
FILES = {"usr/bin/zygo": (b"the program", True), "usr/share/doc/zygo/copyright": (b"a text", False)}
DOCKERFILE = (CHECKOUT / "images/service/Dockerfile").read_text()


def root(path: Path, when: float) -> Path:
    """A root file system as mmdebstrap gives it, made at that time."""
    with tarfile.open(path, "w") as archive:
        def add(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> None:
            info = tarfile.TarInfo(f"./{name}")
            info.size, info.type, info.linkname, info.mode, info.mtime = len(content), kind, link, mode, when
            info.uname = "somebody"
            archive.addfile(info, io.BytesIO(content))

        for folder in ("etc", "etc/apt", "usr", "usr/bin", "dev", "var", "var/lib", "var/lib/dpkg"):
            add(folder, kind=tarfile.DIRTYPE, mode=0o755)
        for name, content in OF_THE_MACHINE.items():
            add(name, content)
        add("usr/bin/perl", b"perl", mode=0o4755)
        add("usr/bin/perl5.36.0", kind=tarfile.LNKTYPE, link="./usr/bin/perl")
        add("bin", kind=tarfile.SYMTYPE, link="usr/bin")
        add("dev/null", kind=tarfile.CHRTYPE)
        add("var/lib/dpkg/status", STATUS.encode())
    return path


class ThePackedImage(ZygoTestCase):
    def made(self, name: str = "image.tar", when: float = 1.0) -> Path:
        folder = self.folder()
        return image.make(folder / name, root(folder / "root.tar", when), FILES, image.settings(DOCKERFILE), VERSION, EPOCH)

    def test_it_is_equal_whatever_folder_and_whenever(self) -> None:
        first = self.made("a.tar", 1.0)
        with mock.patch("time.time", return_value=2.5e9):
            second = self.made("b.tar", 2.5)

        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_the_folder_that_it_is_made_in_has_it_alone(self) -> None:
        self.assertEqual({path.name for path in self.made().parent.iterdir()}, {"image.tar", "root.tar"})

    def test_its_tag_is_the_version_and_it_starts_as_the_dockerfile_says(self) -> None:
        said = oci_reader.Image(self.made(), VERSION).config

        self.assertEqual((said["created"], said["os"], said["architecture"]), ("2023-11-14T22:13:20Z", "linux", "amd64"))
        config = said["config"]
        self.assertEqual(config.pop("Labels")["org.opencontainers.image.version"], VERSION)
        self.assertEqual(config, {
            "Env": [image.PATH, "ZYGO_LISTEN=0.0.0.0:8000", "ZYGO_HOME=/var/lib/zygo", "ZYGO_GRACE=8s"],
            "ExposedPorts": {"8000/tcp": {}}, "StopSignal": "SIGTERM", "Entrypoint": ["zygo"], "Cmd": ["serve"],
            "Healthcheck": {"Test": ["CMD", "zygo", "health", "--ready", "--quiet"], "Interval": 10 * 10**9,
                            "Timeout": 6 * 10**9, "StartPeriod": 30 * 10**9, "Retries": 3}})

    def test_an_instruction_that_it_cannot_follow_is_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "VOLUME"):
            image.settings(DOCKERFILE + "VOLUME /data\n")

    def test_it_has_the_root_below_and_the_files_above(self) -> None:
        below, above = oci_reader.Image(self.made(), VERSION).layers

        with tarfile.open(fileobj=io.BytesIO(below)) as archive:
            perl, link = archive.getmember("usr/bin/perl"), archive.getmember("usr/bin/perl5.36.0")
            self.assertEqual((perl.mode, perl.mtime, perl.uname), (0o4755, EPOCH, ""))
            self.assertEqual((link.islnk(), link.linkname), (True, "usr/bin/perl"))
            self.assertEqual(archive.getmember("bin").linkname, "usr/bin")
            self.assertNotIn("dev/null", archive.getnames(), "whoever runs an image makes its devices")
        with tarfile.open(fileobj=io.BytesIO(above)) as archive:
            modes = {member.name: (member.isdir(), member.mode) for member in archive}
        self.assertEqual(modes["usr/bin"], (True, 0o755))
        self.assertEqual((modes["usr/bin/zygo"], modes["usr/share/doc/zygo/copyright"]), ((False, 0o755), (False, 0o644)))

    def test_it_tells_nothing_of_the_machine_that_made_it(self) -> None:
        below, _ = oci_reader.Image(self.made(), VERSION).layers

        for name, content in OF_THE_MACHINE.items():
            self.assertNotIn(content, below, name)
        self.assertIn(b"deb http://deb.debian.org/debian-security bookworm-security main\n", below)

    def test_the_debian_packages_in_it_are_listed(self) -> None:
        base = image.installed(root(self.folder() / "root.tar", 1.0))
        listed = json.loads(contents.spdx(VERSION, {}, [], EPOCH, base))

        found = {package["name"]: (package["versionInfo"], package.get("sourceInfo")) for package in listed["packages"]}
        self.assertEqual(found, {"zygo": (VERSION, None),
                                 "libc6": ("2.36-9+deb12u10", "Debian source package glibc 2.36-9"),
                                 "python3": ("3.11.2-1+b1", "Debian source package python3 3.11.2-1+b1")})

    def test_zygo_imports_it(self) -> None:
        path = self.made()
        environment = zygo.environment(ZYGO_HOME=str(self.folder() / "store"))

        ended = zygo.run_cli("image", "import", "--json", "packed", str(path), env=environment)

        self.assertEqual(ended.code, 0, ended.stderr)
        imported = json.loads(ended.stdout)
        self.assertEqual((imported["config"]["entrypoint"], imported["config"]["command"]), (["zygo"], ["serve"]))
        self.assertEqual((Path(imported["rootfs"]) / "usr/bin/zygo").read_bytes(), b"the program")


class TheReader(ZygoTestCase):
    """The same that checks the real image: it has to notice."""

    def changed(self, name: str, old: bytes, new: bytes) -> Path:
        folder = self.folder()
        path = image.make(folder / "image.tar", root(folder / "root.tar", 1.0), FILES, image.settings(DOCKERFILE), VERSION, EPOCH)
        with tarfile.open(path) as archive, tarfile.open(folder / "changed.tar", "w") as out:
            for member in archive:
                content = archive.extractfile(member).read() if member.isreg() else b""  # type: ignore[union-attr]
                if member.name.startswith(name):
                    content = content.replace(old, new)
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
            if name == "further":
                out.addfile(tarfile.TarInfo("further"))
        return folder / "changed.tar"

    def test_what_was_changed_is_refused(self) -> None:
        for name, old, new, reason in (("blobs/", b'"SIGTERM"', b'"SIGKILL"', "not of its size or digest"),
                                       ("oci-layout", b"1.0.0", b"2.0.0", "not version 1.0.0"),
                                       ("manifest.json", b'"zygo:', b'"other:', "names another image"),
                                       ("further", b"", b"", "named by nobody, or absent: further")):
            with self.subTest(name), self.assertRaisesRegex(oci_reader.Refused, reason):
                oci_reader.Image(self.changed(name, old, new), VERSION)

    def test_a_layer_that_unpacks_to_something_else_is_refused(self) -> None:
        folder = self.folder()
        layer = oci.files_layer(folder / "layer", FILES, EPOCH)
        oci.write(folder / "image.tar", [replace(layer, diff_id="0" * 64)], {}, "zygo", VERSION, EPOCH)

        with self.assertRaisesRegex(oci_reader.Refused, "diff_ids"):
            oci_reader.Image(folder / "image.tar", VERSION)


if __name__ == "__main__":
    unittest.main()
