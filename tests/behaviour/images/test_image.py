"""`zygo image`: what is imported is listed, inspected and removed; what is hostile is refused by name and leaves nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import tarfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished, ZygoTestCase

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=kind, linkname=target)


ROOT = (member("./usr/bin/tool", b"#!/bin/sh\n", mode=0o4711), link("./bin", "usr/bin"),
        link("./usr/bin/same", "usr/bin/tool", tarfile.LNKTYPE), member("./etc/shadow", b"secret", mode=0),
        member("./dev/null", type=tarfile.CHRTYPE), member("./grün/ß", "ü".encode()))
LAYERS = (tar_of(member("a/low", b"1"), member("gone", b"1"), member("kept", b"1")),
          tar_of(member("a/.wh..wh..opq"), member("a/new", b"2"), member(".wh.gone")))
CONFIG = {"architecture": ARCHITECTURE, "os": "linux",
          "config": {"Env": ["PATH=/usr/bin"], "WorkingDir": "/work", "User": "1000", "Entrypoint": ["tool"],
                     "Cmd": ["--help"]},
          "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(x).hexdigest() for x in LAYERS]}}

# Each row has the name of a hostile archive, its members, and what the refusal says.
HOSTILE: tuple[tuple[str, tuple[tuple[tarfile.TarInfo, bytes], ...], str], ...] = (
    ("a path upwards", (member("../../evil", b"x"),), 'member "../../evil": its path leaves the root'),
    ("an absolute path", (member("/tmp/evil", b"x"),), "its path is absolute"),
    ("a path through a link", (link("x", "/tmp"), member("x/evil", b"x")), "leads through /x, a symbolic link"),
    ("a loop of links", (link("a", "b"), link("b", "a"), member("a/evil", b"x")), "a symbolic link"),
    ("a hard link to outside", (link("h", "../../etc/passwd", tarfile.LNKTYPE),), "its path leaves the root"),
    ("a hard link to a link", (link("s", "/etc/passwd"), link("h", "s", tarfile.LNKTYPE)), "/s, a symbolic link"),
    ("a name that moves the cursor", (member("../\x1b[2J", b"x"),), "\\x1b[2J"),
)


class Images(ZygoTestCase):
    def setUp(self) -> None:
        self.place = self.folder()
        self.store = self.place / "store"

    def image(self, *arguments: str, **how: Any) -> Finished:
        return zygo.run_cli("image", *arguments, env=zygo.environment(ZYGO_HOME=str(self.store)), **how)

    def write(self, name: str, content: bytes) -> str:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(path)

    def imported(self, name: str, path: str) -> dict[str, Any]:
        ended = self.image("import", "--json", name, path)
        self.assertEqual(ended.code, 0, ended.stderr)
        return json.loads(ended.out)

    def left(self) -> list[str]:
        return sorted(str(path.relative_to(self.store)) for folder in ("images", "names")
                      for path in (self.store / folder).glob("*"))

    def layout(self, manifest_of: str = ARCHITECTURE) -> Path:
        path = self.place / "oci"

        def blob(kind: str, content: bytes, **fields: Any) -> dict[str, Any]:
            digest = hashlib.sha256(content).hexdigest()
            self.write(f"oci/blobs/sha256/{digest}", content)
            return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}",
                    "size": len(content), **fields}

        manifest = {"schemaVersion": 2, "config": blob("config.v1+json", json.dumps(CONFIG).encode()),
                    "layers": [blob("layer.v1.tar+gzip", gzip.compress(layer, mtime=0)) for layer in LAYERS]}
        other = blob("manifest.v1+json", b"{}", platform={"os": "linux", "architecture": "s390x"})
        ours = blob("manifest.v1+json", json.dumps(manifest).encode(),
                    platform={"os": "linux", "architecture": manifest_of})
        nested = blob("index.v1+json", json.dumps({"schemaVersion": 2, "manifests": [other, ours]}).encode())
        self.write("oci/index.json", json.dumps({"schemaVersion": 2, "manifests": [nested]}).encode())
        self.write("oci/oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        return path

    def saved(self) -> bytes:
        config = json.dumps(CONFIG).encode()
        name = hashlib.sha256(config).hexdigest() + ".json"
        manifest = [{"Config": name, "RepoTags": ["test:1"], "Layers": ["0/layer.tar", "1/layer.tar"]}]
        return tar_of(member(name, config), *(member(f"{i}/layer.tar", layer) for i, layer in enumerate(LAYERS)),
                      member("manifest.json", json.dumps(manifest).encode()))


class WhatIsImported(Images):
    def check_round(self, path: str) -> Path:
        """Imports, lists and inspects it; gives its root."""
        image = self.imported("one", path)
        listed = json.loads(self.image("list", "--json").out)
        inspected = json.loads(self.image("inspect", "--json", "one").out)
        self.assertEqual(listed, [inspected])
        self.assertEqual({**inspected, "skipped": image["skipped"], "stored_before": False}, image)
        self.assertIn(image["digest"].removeprefix("sha256:")[:12], self.image("list").stdout)
        self.assertIn(image["rootfs"], self.image("inspect", "one").stdout)
        self.assertEqual(self.left(), [f"images/{image['digest'].replace(':', '-')}", "names/one.json"])
        return Path(image["rootfs"])

    def remove(self) -> None:
        ended = self.image("remove", "one")
        self.assertEqual((ended.code, ended.out, self.left()), (0, b"", []), ended.stderr)

    def test_a_root_file_system_as_an_archive_of_any_compression(self) -> None:
        plain = tar_of(*ROOT)
        compressed = {"a.tar": plain, "a.tar.gz": gzip.compress(plain),
                      "two.tar.gz": gzip.compress(plain[:700]) + gzip.compress(plain[700:]) + bytes(512)}
        for name in ("bz2", "xz"):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode=f"w:{name}") as archive:
                for info, content in ROOT:
                    archive.addfile(info, io.BytesIO(content))
            compressed[f"a.tar.{name}"] = out.getvalue()
        if zstd := shutil.which("zstd"):
            compressed["a.tar.zst"] = subprocess.run([zstd, "-q"], input=plain, capture_output=True, check=True).stdout
        for name, content in compressed.items():
            with self.subTest(name):
                root = self.check_round(self.write(name, content))
                tool = (root / "usr/bin/tool").stat()
                self.assertEqual(stat.S_IMODE(tool.st_mode), 0o755)
                self.assertEqual((tool.st_uid, tool.st_ino), (os.geteuid(), (root / "usr/bin/same").stat().st_ino))
                self.assertEqual(stat.S_IMODE((root / "etc/shadow").stat().st_mode), 0o644)
                self.assertEqual(os.readlink(root / "bin"), "usr/bin")
                self.assertEqual((root / "grün/ß").read_text(), "ü")
                self.assertFalse((root / "dev/null").exists())
                self.remove()

    def test_a_directory(self) -> None:
        self.write("root/usr/bin/tool", b"#!")
        os.link(self.place / "root/usr/bin/tool", self.place / "root/same")
        os.symlink("/etc/passwd", self.place / "root/passwd")
        os.mkfifo(self.place / "root/fifo")
        root = self.check_round(str(self.place / "root"))
        self.assertEqual(os.readlink(root / "passwd"), "/etc/passwd")
        self.assertEqual((root / "same").stat().st_nlink, 2)
        self.assertFalse((root / "fifo").exists())
        self.remove()

    def check_layers(self, root: Path) -> None:
        found = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
        self.assertEqual(found, {"a/new": "2", "kept": "1"})
        config = json.loads(self.image("inspect", "--json", "one").out)["config"]
        self.assertEqual(config, {"environment": ["PATH=/usr/bin"], "working_directory": "/work", "user": "1000",
                                  "entrypoint": ["tool"], "command": ["--help"]})

    def test_an_oci_layout_as_a_directory_and_as_an_archive(self) -> None:
        layout = self.layout()
        with tarfile.open(self.place / "oci.tar", "w") as archive:
            archive.add(layout, arcname=".")
        for path in (layout, self.place / "oci.tar"):
            with self.subTest(path.name):
                self.check_layers(self.check_round(str(path)))
                self.remove()

    def test_what_docker_save_writes(self) -> None:
        self.check_layers(self.check_round(self.write("saved.tar", self.saved())))
        self.remove()

    def test_the_same_content_from_three_sources_is_stored_once(self) -> None:
        images = [self.imported("one", str(self.layout())), self.imported("two", self.write("s.tar", self.saved()))]
        self.assertEqual(images[0]["digest"], images[1]["digest"])
        self.assertEqual([image["stored_before"] for image in images], [False, True])
        self.assertEqual(len(self.left()), 3)


class WhatIsRefused(Images):
    def check_refused(self, path: str, word: str, codes: tuple[int, ...] = (2,)) -> None:
        ended = self.image("import", "evil", path)
        self.assertIn(ended.code, codes, ended.stderr)
        self.assertTrue(ended.stderr.startswith("zygo image import: "), ended.stderr)
        self.assertIn(word, ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)
        self.assertNotIn("\x1b", ended.stderr)
        self.assertEqual((ended.out, self.left()), (b"", []))

    def test_hostile_archives_are_named_and_leave_nothing(self) -> None:
        for title, members, word in HOSTILE:
            with self.subTest(title):
                self.check_refused(self.write("evil.tar", tar_of(*members)), word)
                self.assertFalse(Path("/tmp/evil").exists())

    def test_truncated_and_corrupt_archives(self) -> None:
        whole = tar_of(member("f", os.urandom(9000)), member("g", b"x"))
        packed = gzip.compress(whole)
        self.check_refused(self.write("cut.tar", whole[:4000]), "truncated")
        self.check_refused(self.write("cut.tar", whole[:512 + 9216]), "it has no end mark")
        self.check_refused(self.write("cut.tgz", packed[:4000]), "truncated")
        self.check_refused(self.write("bad.tgz", packed[:3000] + bytes(50) + packed[3050:]), "damaged")
        self.check_refused(self.write("bad.tgz", packed[:20] + b"\xff" * 50 + packed[70:]), "damaged")
        stored = gzip.compress(whole, 0)  # as it is: only the checksum tells
        self.check_refused(self.write("bad.tgz", stored[:3000] + bytes([stored[3000] ^ 1]) + stored[3001:]), "damaged")
        self.check_refused(self.write("bad.tgz", stored[:-8] + bytes(8)), "damaged")
        self.check_refused(self.write("text", b"just words\n" * 99), "not a tar archive")
        self.check_refused(self.write("empty", b""), "empty: ")

    def test_a_bomb(self) -> None:
        claim = member("big")[0]
        claim.size = 1 << 50
        head = claim.tobuf(tarfile.GNU_FORMAT)
        self.check_refused(self.write("bomb.tgz", gzip.compress(head + bytes(1 << 20))), "more than 17179869184 bytes")

    def test_layers_that_are_not_what_they_say(self) -> None:
        layout = self.layout()
        blob = max((layout / "blobs/sha256").iterdir(), key=lambda path: path.read_bytes()[:2] == b"\x1f\x8b")
        blob.write_bytes(blob.read_bytes()[:-1] + b"!")
        self.check_refused(str(layout), "is not what its name says")

    def test_an_image_for_another_machine(self) -> None:
        self.check_refused(str(self.layout("riscv64")), f"no image for linux/{ARCHITECTURE}, but for linux/s390x, linux/riscv64")

    def test_names_and_files_that_will_not_do(self) -> None:
        path = self.write("a.tar", tar_of(*ROOT))
        for arguments, word in ((("import", "a/b", path), '"a/b" is not a name'), (("import", "..", path), '".." is not'),
                                (("import", "a", "/nowhere"), "/nowhere: No such file"),
                                (("import", "a", "/dev/null"), "neither a file nor a directory"),
                                (("inspect", "absent"), 'no image is named "absent"'),
                                (("remove", "absent"), 'no image is named "absent"'), (("import", "a"), "PATH")):
            with self.subTest(arguments):
                ended = self.image(*arguments)
                self.assertEqual(ended.code, 2, ended.stderr)
                self.assertIn(word, ended.stderr)
        self.assertEqual(self.left(), [])

    def test_a_store_that_may_not_be_written_is_the_hosts_fault(self) -> None:
        path = self.write("a.tar", tar_of(*ROOT))
        ended = zygo.run_cli("image", "import", "a", path, env=zygo.environment(ZYGO_HOME="/proc/zygo"))
        self.assertEqual(ended.code, 125, ended.stderr)
        self.assertIn("mkdir /proc/zygo", ended.stderr)


class Interrupted(Images):
    def stop_in_the_middle(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None and not list(self.store.glob("images/tmp-*/rootfs")):
            pass
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        self.assertEqual(list(self.store.glob("names/*")), [], "the import was too quick for this test")

    def test_an_import_that_is_killed_leaves_what_the_next_takes_away(self) -> None:
        path = self.write("big.tar", tar_of(member("f", os.urandom(64 << 20))))
        env = zygo.environment(ZYGO_HOME=str(self.store))
        process = subprocess.Popen([str(zygo.BINARY), "image", "import", "big", path], env=env,
                                   stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.stop_in_the_middle(process)
        process.kill()
        process.wait()
        self.assertEqual([name.split("-")[0] for name in self.left()], ["images/tmp"])
        self.imported("small", self.write("a.tar", tar_of(*ROOT)))
        self.assertEqual([name.split("-")[0] for name in self.left()], ["images/sha256", "names/small.json"])

    def test_ctrl_c_ends_it_with_130_and_leaves_nothing(self) -> None:
        path = self.write("big.tar", tar_of(member("f", os.urandom(64 << 20))))
        env = zygo.environment(ZYGO_HOME=str(self.store))
        process = subprocess.Popen([str(zygo.BINARY), "image", "import", "big", path], env=env,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.stop_in_the_middle(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60 * zygo.PATIENCE)
        self.assertEqual((process.returncode, self.left()), (130, []), err)
        self.assertIn(b"nothing was imported", err)


if __name__ == "__main__":
    unittest.main()
