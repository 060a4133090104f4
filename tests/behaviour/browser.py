"""A headless Chromium, driven over the DevTools protocol through a pair of pipes: no port, no driver, no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any

from zygo import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Nothing asks anybody outside. As root there is no sandbox of its own; it is shown our page only.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
           "--disable-default-apps", "--metrics-recording-only", "--force-color-profile=srgb", "--hide-scrollbars",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
           "--remote-debugging-pipe")
# Chromium reads its orders from descriptor 3 and answers on 4.
WRAPPER = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
           "os.execv(sys.argv[3], sys.argv[3:])")
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "ArrowLeft": (37, ""), "a": (65, "a")}
CONTROL, SHIFT = 2, 8


def find() -> str:
    """Its path; empty when this host has none."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


class Browser:
    """One process; ended by `close`, with all its children."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="behaviour-chromium-", ignore_cleanup_errors=True)
        orders_out, orders_in = high_pipe()
        answers_out, answers_in = high_pipe()
        command = [sys.executable, "-c", WRAPPER, str(orders_out), str(answers_in), find(), *OPTIONS,
                   f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(orders_out, answers_in), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(orders_out)
        os.close(answers_in)
        self.orders, self.answers = orders_in, answers_out
        self.pending = b""
        self.last = 0
        self.events: deque[dict[str, Any]] = deque()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            try:
                self.call("Browser.close", timeout=10)
                self.process.wait(20 * PATIENCE)
            except (OSError, TimeoutError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        os.close(self.orders)
        os.close(self.answers)
        self.profile.cleanup()

    def message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser is silent")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise BrokenPipeError("the browser has ended")
            self.pending += data
        text, _, self.pending = self.pending.partition(b"\0")
        return json.loads(text)

    def call(self, method: str, session: str = "", timeout: float = 60, **parameters: Any) -> dict[str, Any]:
        self.last += 1
        number = self.last
        order = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.orders, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + timeout * PATIENCE
        while (answer := self.message(deadline)).get("id") != number:
            if "method" in answer:
                self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])


class Page:
    """One tab. What it asked for and what it complained about is in `requests` and `complaints`."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        result = self.browser.call(method, self.session, **parameters)
        self.note_events()
        return result

    def note_events(self) -> None:
        while self.browser.events:
            event = self.browser.events.popleft()
            what, told = event["method"], event.get("params", {})
            if event.get("sessionId") != self.session:
                continue
            if what == "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            elif what == "Network.webSocketCreated":
                self.requests.append(told["url"])
            elif what == "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"])[:500])
            elif what == "Log.entryAdded" and told["entry"]["level"] == "error":
                self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")

    def look(self, width: int, height: int, scheme: str = "light", mobile: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def go(self, url: str) -> None:
        """Waits for what the page says of itself: its scripts have run when a view is shown."""
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise AssertionError(f"{url}: {failed}")

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = 60) -> None:
        """Until it is true in the page. A page that is still being loaded may not know the words yet."""
        deadline = time.monotonic() + seconds * PATIENCE
        while True:
            try:
                if self.evaluate(f"(() => {{ try {{ return !!({expression}); }} catch {{ return null; }} }})()"):
                    return
            except RuntimeError as error:  # the context went with the page before
                if "context" not in str(error).lower():
                    raise
            if time.monotonic() > deadline:
                raise AssertionError(f"never true: {expression}\n{self.text('body')}\n{self.complaints}")
            time.sleep(0.05)  # the page gives no event for what it draws

    def text(self, selector: str) -> str:
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def press(self, key: str, modifiers: int = 0, commands: tuple[str, ...] = ()) -> None:
        """`commands` are what an editable field makes of it, unless the page has its own way."""
        code, text = KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text and not modifiers else "rawKeyDown", **common,
                  commands=list(commands), **({"text": text} if text and not modifiers else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        x, y = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                             "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                             "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def fill(self, selector: str, text: str) -> None:
        """As somebody would who selects all that is there and writes over it."""
        self.evaluate(f"(e => {{ e.focus(); e.select(); }})(document.querySelector({json.dumps(selector)}))")
        self.type(text)

    def overwrite(self, text: str) -> None:
        """All that the field has that is focused, as somebody would by keys."""
        self.press("a", CONTROL, ("selectAll",))
        self.type(text)

    def picture(self, path: Path, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


def high_pipe() -> tuple[int, int]:
    """Both ends far from 3 and 4, where they are put in the child."""
    import fcntl
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
