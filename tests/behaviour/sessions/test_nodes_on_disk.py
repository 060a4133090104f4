"""Nodes that memory has no room for are on the disk, and come back when a step is run at them."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import host
import zygo
from sessions.client import ApiTestCase

# A megabyte that no compression makes small.
FILL = "import os, zlib\nx = os.urandom(1 << 20)\nzlib.crc32(x)"
LOOK = "zlib.crc32(x)"


class DiskTestCase(ApiTestCase):
    memory, size = "16M", "1G"
    folder: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="behaviour-nodes-"))
        cls.options = ("--workers", "4", "--nodes-memory", cls.memory, "--nodes-disk", cls.folder, "--nodes-disk-size", cls.size)
        super().setUpClass()

    def fill(self, count: int, source: str = FILL) -> tuple[str, dict[str, int]]:
        """A session, and what it has at so many nodes side by side."""
        session, root = self.begin()
        found = [self.run_at(root, source) for _ in range(count)]
        for each in found:
            self.assertLabel(each, "OK")
        return session, {each["node"]: each["value"] for each in found}


class OnDisk(DiskTestCase):
    def test_each_node_is_as_it_was(self) -> None:
        session, values = self.fill(14)
        self.assertGreater(self.service.metric("zygo_nodes_on_disk "), 4)
        self.assertLess(self.service.metric("zygo_nodes_bytes "), 8 << 20)
        chance = random.Random(5)
        for node in chance.choices(list(values), k=30):
            result = self.run_at(node, LOOK)
            self.assertEqual((result["value"], result.get("replayed")), (values[node], None))
        self.assertTrue(all(each["there"] for each in self.nodes_of(session).values()))
        self.assertEqual(os.listdir(self.folder), [])
        self.ask("DELETE", f"/v1/sessions/{session}")
        self.service.await_metric("zygo_nodes_disk_bytes ", 0)
        self.assertEqual(self.service.metric("zygo_nodes_on_disk "), 0)

    def test_many_steps_at_once(self) -> None:
        session, values = self.fill(12)
        nodes = list(values)

        def visit(seed: int) -> list[bool]:
            chance = random.Random(seed)
            return [self.run_at(node, LOOK, keep=False)["value"] == values[node] for node in chance.choices(nodes, k=12)]

        with ThreadPoolExecutor(4) as threads:
            self.assertEqual([*threads.map(visit, range(4))], [[True] * 12] * 4)
        lines, _ = self.tried(nodes[0], [LOOK] * 24, keep="none")
        self.assertEqual({each["value"] for each in lines.values()}, {values[nodes[0]]})
        self.ask("DELETE", f"/v1/sessions/{session}")

    def test_steps_that_wait_for_memory_are_counted(self) -> None:
        """Two of them have room in the 8 MB that the tenant may have."""
        session, values = self.fill(8, FILL.replace("1 << 20", "2 << 20"))
        step = {"source": "import signal\nsignal.pause()", "keep": False, "limits": {"wall_ms": 60_000}}
        with ThreadPoolExecutor(4) as threads:
            steps = threads.map(lambda node: self.ask("POST", f"/v1/nodes/{node}/run", step), [*values][:4])
            self.service.await_metric_between("zygo_steps_waiting ", 1, 3)
            self.ask("DELETE", f"/v1/sessions/{session}")  # which ends those that run, and those that wait
            self.assertEqual(len([*steps]), 4)
        self.service.await_metric("zygo_steps_waiting ", 0)

    def test_files_and_shared_pages(self) -> None:
        session, root = self.begin()
        node = self.after(root, "import os\nbig = os.urandom(1 << 20)\nopen('f', 'wb').write(big)", "os.rename('f', 'g')", "small = 1")
        self.after(root, *[FILL] * 5)
        self.assertGreater(self.service.metric("zygo_nodes_on_disk "), 0)
        self.assertEqual(self.value(node, "[open('g', 'rb').read() == big, small, os.listdir()]"), [True, 1, ["g"]])
        self.ask("DELETE", f"/v1/sessions/{session}")


class ManyAtOnce(DiskTestCase):
    memory = "32M"  # one tenant has half of it: for four steps what they come from and what they leave

    def test_all_that_make_room_are_kept(self) -> None:
        session, root = self.begin()
        with ThreadPoolExecutor(4) as threads:
            kept = [each["node"] != root for each in threads.map(lambda _: self.run_at(root, FILL), range(40))]
        self.assertEqual(kept, [True] * 40)
        self.ask("DELETE", f"/v1/sessions/{session}")

    def test_steps_that_wait_for_their_turn_take_no_room_from_those_that_run(self) -> None:
        session, values = self.fill(24)
        nodes = list(values)

        def go_on(index: int) -> tuple[bool, bool]:
            result = self.run_at(nodes[index % 24], f"before = zlib.crc32(x)\n{FILL}\nbefore")
            return result["node"] != result["parent"], result["value"] == values[nodes[index % 24]]

        with ThreadPoolExecutor(12) as threads:
            self.assertEqual([*threads.map(go_on, range(48))], [(True, True)] * 48)
        self.ask("DELETE", f"/v1/sessions/{session}")
        self.service.await_metric("zygo_nodes_bytes ", 0)
        self.service.await_metric("zygo_nodes_disk_bytes ", 0)


class DamagedDisk(DiskTestCase):
    def test_a_node_that_cannot_be_read_is_made_anew(self) -> None:
        session, root = self.begin()
        node = self.run_at(root, "import os, random, zlib\nx = random.randbytes(1 << 20)\nzlib.crc32(x)")
        for _ in range(14):
            self.assertLabel(self.run_at(root, FILL), "OK")
        self.damage()
        again = self.run_at(node["node"], LOOK)
        self.assertEqual((again["value"], again["replayed"] > 0), (node["value"], True))

    def damage(self) -> None:
        """Its files have no name: only the service has them."""
        try:
            links = host.links_of_descriptors(self.service.process.pid)
        except PermissionError:
            self.skipTest("this host does not let us reach files of the service")
        damaged = [path for path, link in links.items() if link.startswith(self.folder + "/#")]
        for path in damaged:
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                os.truncate(path, 100)
        self.assertGreater(len(damaged), 4)


class LittleDisk(DiskTestCase):
    size = "4M"  # of which one tenant has half

    def test_nodes_that_have_no_room_there_either_are_made_anew(self) -> None:
        session, root = self.begin()
        first = self.run_at(root, "import random\nx = random.randbytes(1 << 20)\nimport zlib\nzlib.crc32(x)")
        for _ in range(12):
            self.assertLabel(self.run_at(root, FILL), "OK")
        self.assertFalse(self.nodes_of(session)[first["node"]]["there"])
        again = self.run_at(first["node"], LOOK)
        self.assertEqual((again["value"], again["replayed"] > 0), (first["value"], True))
        self.assertLessEqual(self.service.metric("zygo_nodes_disk_bytes "), 2 << 20)


class Refusals(zygo.ZygoTestCase):
    def test_a_folder_that_is_not_there(self) -> None:
        refused = zygo.run_cli("serve", "--listen", "127.0.0.1:0", "--nodes-disk", "/nonexistent/folder")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("nodes_disk: open /nonexistent/folder: No such file or directory", refused.stderr)


if __name__ == "__main__":
    unittest.main()
