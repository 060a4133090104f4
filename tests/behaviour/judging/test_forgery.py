"""What a program writes into its own answer, with the address and the nonce in hand, buys it nothing.

Native code shares its process with the core that reports for it, so it can find the answer's memory and write what it
likes. It may thereby say what it could have returned or raised; it never gets past what the kernel and the supervisor
saw, never blames them, and never makes them stumble.
"""

from __future__ import annotations

import json
import struct
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Job, Result, ZygoTestCase

PROBES = Path(zygo.__file__).parent / "probes"
VALUE_KB = 1024
FINISHED, VALUE, EXCEPTION, INVALID, EXITED = 1, 2, 3, 4, 5
FORTY_TWO = b"l\1\0\0\0u\x2a"
EVERY_FLAG = 0xFF


def text(content: bytes) -> bytes:
    return b"s" + struct.pack("<I", len(content)) + content


def exception(name: bytes, line: int = 1, flags: int = 0) -> bytes:
    texts = text(name) + text(b"message") + text(b"")
    return b"l\5\0\0\0" + texts + b"i" + struct.pack("<q", line) + b"u" + bytes([flags])


def forger(name: str, forge: dict[str, Any], end: str = "0", **fields: Any) -> Job:
    environment = {"CAPACITY": str(VALUE_KB << 10), "FORGE": json.dumps(forge), "END": end}
    return {"id": name, "mode": "call", "func": "f", "inputs": [1],
            "source": f"import os; os.environ.update({environment!r})\n" + (PROBES / "forger.py").read_text(),
            "files": {"memory.py": {"text": (PROBES / "memory.py").read_text()}},
            "limits": {"value_kb": VALUE_KB, "cpu_ms": 4000, "wall_ms": 30000}, **fields}


def answer(kind: int, payload: bytes = b"", **more: int) -> dict[str, Any]:
    return {"kind": kind, "payload": payload.hex(), **more}


class AForgedValue(ZygoTestCase):
    """It is as good as one that was returned, and no better."""

    results: dict[str, Result]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        forged = answer(VALUE, FORTY_TWO)
        jobs = [forger("plain", forged), forger("exit 3", forged, "3"), forger("SIGKILL", forged, "-9"),
                forger("refused call", forged, "fork"),
                forger("endless", forged, "loop", limits={"value_kb": VALUE_KB, "cpu_ms": 1500, "wall_ms": 30000})]
        cls.results = zygo.run_batch(jobs, "--workers", "1")

    def test_was_written_indeed(self) -> None:
        """Or the others would prove nothing."""
        self.assertEqual((self.results["plain"]["label"], self.results["plain"]["value"]), ("OK", [42]))

    def test_changes_no_verdict_that_has_evidence(self) -> None:
        wanted = {"exit 3": "NonZeroExit", "SIGKILL": "Signalled", "refused call": "UnsafeCode",
                  "endless": "TimeoutException"}

        self.assertEqual({name: self.results[name]["label"] for name in wanted}, wanted)

    def test_is_not_handed_on_beside_an_end_that_no_value_has(self) -> None:
        for name in ("exit 3", "SIGKILL", "endless"):
            with self.subTest(name):
                self.assertIsNone(self.results[name]["value"])


class AForgedWord(ZygoTestCase):
    def test_is_never_ok_and_never_our_fault(self) -> None:
        """Kinds, lengths and contents that no core writes; the job after each is unharmed."""
        forgeries = {
            "finished, in call mode": answer(FINISHED),
            "unknown kind": answer(77, FORTY_TWO),
            "nothing in it": answer(VALUE),
            "no list": answer(VALUE, b"u\x2a"),
            "longer than the region": answer(VALUE, FORTY_TWO, size=2 ** 32 - 1),
            "longer than allowed": answer(VALUE, FORTY_TWO, size=(VALUE_KB << 10) + 1),
            "cut short": answer(VALUE, FORTY_TWO[:-1]),
            "bytes behind it": answer(VALUE, FORTY_TWO + b"N"),
            "count past the end": answer(VALUE, b"l\xff\xff\xff\xff"),
            "nested without end": answer(VALUE, b"l\1\0\0\0", times=100_000),
            "no UTF-8": answer(VALUE, b"l\1\0\0\0" + text(b"\xff\xfe")),
            "unknown tag": answer(VALUE, b"l\1\0\0\0?"),
            "integer that is none": answer(VALUE, b"l\1\0\0\0I\2\0\0\0-0"),
            "array without end": answer(VALUE, b"l\1\0\0\0A" + text(b"int64") + b"l\xff\xff\xff\xff"),
            "exception of four fields": answer(EXCEPTION, b"l\4\0\0\0" + text(b"E") * 4),
            "exception named like ours": answer(EXCEPTION, exception(b"SandboxError")),
            "exception named for a terminal": answer(EXCEPTION, exception(b"\x1b[2J\xff\n" * 1000, line=-(2 ** 63))),
            "exception with every flag": answer(EXCEPTION, exception(b"BadJob", flags=EVERY_FLAG)),
            "invalid without a reason": answer(INVALID, b"l\0\0\0\0"),
            "exited": answer(EXITED),
            "noise": {"scribble": 1},
            "noise without nonce": {"scribble": 2, "nonce": False},
        }
        jobs = []
        for name, forgery in forgeries.items():
            jobs += [forger(name, forgery), {"id": f"after {name}", "source": "print(6 * 7)"}]

        results = zygo.run_batch(jobs, "--workers", "1")

        for name in forgeries:
            with self.subTest(name):
                result = results[name]
                self.assertNotIn(result["label"], {"OK", "SandboxError", "BadJob", "Cancelled"}, zygo.brief(result))
                self.assertIsNone(result["value"])
                self.assertEqual(zygo.shape_faults(result), [])
                self.assertEqual(results[f"after {name}"]["stdout"]["text"], "42\n")

    def test_about_a_refused_call_is_cleaned(self) -> None:
        note = struct.pack("<Qi60s", 2 ** 64 - 1, -5, b"\x1b[2J\xff" * 12).hex()

        result = zygo.run_batch([forger("note", {"note": note}, "fork")])["note"]

        self.assertLabel(result, "UnsafeCode")
        self.assertEqual(result["detail"]["syscall"], "fork")
        self.assertNotRegex(json.dumps(result["detail"], ensure_ascii=False), r"[\x00-\x1f\x7f-\x9f]|\\u00[01]")


if __name__ == "__main__":
    unittest.main()
