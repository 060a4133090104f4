"""Steps of sessions: what one takes more than a job, after a time-out, 64 at once from one state; what a node takes; and other ways
to keep the state of an interpreter and go on from it.

A step at a node is put back, runs and leaves a node of its own, all of which is in its time. The states are lists and dicts
(`states.py`); `own_mb` is what zygo says that the node has, the interpreter's own pages among it.
"""
import contextlib
import http.client
import json
import time
from collections.abc import Callable

from ..coprocess import Coprocess, job_line
from ..http_client import PATIENCE_SECONDS, Server
from ..keeping import keeping
from ..nodes import nodes_of
from ..programs import ANSWERS, NUMPY, PROGRAMS
from ..report import Section
from ..setting import SETTLE_SECONDS, WARM_UP, Setting, jobs_of, lines_of, new_id, wrong_answers
from ..states import STATES, source_of
from ..system import BenchError, HostLacks, percentile, process_tree, progress, pss_kb, ratios, spread, tails

STEP = PROGRAMS["tiny"] + "\nprint(result)"
STEPS_BEFORE = 39  # the time-out
TIMEOUT_MS = 100
PAUSE_SECONDS = 0.05  # before a step for which a process may stand by, and so often there is one:
PAUSE_EACH = 4
BRANCHES = 64
MEMORY = "8G"  # of nodes, where none shall go


def sessions(setting: Setting) -> list[Section]:
    parts = {"step": _steps, "timeout": _after_a_timeout, "try": _branches, "nodes": _nodes, "keep": keeping}
    return [_measured(setting, part, measure) for part, measure in parts.items()]


def _measured(setting: Setting, part: str, measure: Callable[[Setting], Section]) -> Section:
    """What one part cannot measure costs no other."""
    try:
        return measure(setting)
    except HostLacks as error:
        return Section("sessions", "not measured", part, skipped=[str(error)])
    except BenchError as error:
        return Section("sessions", "not measured", part, problems=[str(error)])


class Steps:
    """Of sessions of a `zygo batch`, one at a time."""

    def __init__(self, zygo: Coprocess, section: Section) -> None:
        self._zygo, self._section = zygo, section

    def take(self, node: str, source: str, label: str = "OK", **fields) -> tuple[float, dict]:
        """Milliseconds from sending to hearing, and the result."""
        job = {"id": new_id("step"), "template": "python", "session": node, "source": source, **fields}
        seconds, answer = self._zygo.ask(job_line(job))
        result = json.loads(answer)
        if result["label"] != label or result["session"]["kept"] != (label == "OK"):
            self._section.problems.append(f"a step was not as it should be: {answer.decode()[:300]}")
        return 1000 * seconds, result

    def node(self, node: str, *sources: str) -> str:
        for source in sources:
            node = self.take(node, source)[1]["session"]["node"]
        return node


def _steps(setting: Setting) -> Section:
    section = Section("sessions", "ms of a tiny step at a node, of one after another (next), which goes on in the process of the one before, "
                      f"and of one at the node {1000 * PAUSE_SECONDS:.0f} ms later (paused), for which a process may stand by, against a "
                      "tiny job (after as long a pause), one at a time on one core, in turns; put_back and kept: p50 of that in zygo",
                      part="step")
    for name, rows in STATES.items():
        progress(f"sessions: steps at a state of {name}")
        with setting.one_core() as zygo:
            zygo.run(lines_of("python", "tiny", WARM_UP), WARM_UP)
            steps = Steps(zygo, section)
            made = steps.take("new", source_of(rows))[1]["session"]
            node = last = made["node"]
            jobs, taken, results, answers, chained, nexts, later, paused, paused_jobs = [], [], [], [], [], [], [], [], []
            lines = iter(jobs_of("python", "tiny", 2 * (setting.effort.steps + 1)).values())
            for number in range(setting.effort.steps + 1):
                if number % PAUSE_EACH == 1:
                    time.sleep(PAUSE_SECONDS)
                    elapsed, result = steps.take(node, STEP)
                    paused.append(elapsed)
                    later.append(result)
                    time.sleep(PAUSE_SECONDS)
                    paused_jobs.append(1000 * zygo.ask(next(lines))[0])
                seconds, answer = zygo.ask(next(lines))
                elapsed, result = steps.take(node, STEP)
                elapsed_next, next_result = steps.take(last, STEP)
                last = next_result["session"]["node"]
                if number:  # the first one warms up
                    chained.append(elapsed_next)
                    nexts.append(next_result)
                    jobs.append(1000 * seconds)
                    taken.append(elapsed)
                    results.append(result)
                    answers.append(json.loads(answer))
        section.problems += wrong_answers(answers, "tiny") + wrong_answers(results + nexts + later, "tiny")
        if not any(result["timing_us"]["confine"] == 0 for result in nexts):
            section.skipped.append(f"{name}: no step went on in the process of the one before: no control group counts memory here")
        section.records.append({
            "state": name, "own_mb": made["bytes"] / 1e6, "steps": len(taken), "job_ms": tails(jobs),
            "step_ms": tails(taken), "added_ms": percentile(taken, 0.5) - percentile(jobs, 0.5),
            "put_back_ms": _timing(results, "confine"), "kept_ms": _timing(results, "collect"),
            "next_ms": tails(chained), "next_added_ms": percentile(chained, 0.5) - percentile(jobs, 0.5),
            "next_kept_ms": _timing(nexts, "collect"),
            "paused_ms": tails(paused), "paused_job_ms": tails(paused_jobs),
            "paused_added_ms": percentile(paused, 0.5) - percentile(paused_jobs, 0.5),
        })
    return section


def _timing(results: list[dict], step: str) -> float:
    return percentile([result["timing_us"][step] / 1000 for result in results], 0.5)


def _after_a_timeout(setting: Setting) -> Section:
    progress("sessions: steps after a time-out")
    section = Section("sessions", f"ms of a step at the state of {STEPS_BEFORE} steps, before and after step {STEPS_BEFORE + 1} "
                      f"ran into a limit of {TIMEOUT_MS} ms", part="timeout")
    before, after, stopped = [], [], []
    with setting.coprocess() as zygo:
        steps = Steps(zygo, section)
        node = steps.node("new", "seen = []", *[f"seen.append({number})" for number in range(2, STEPS_BEFORE + 1)])
        for number in range(setting.effort.rounds + 1):
            times = [steps.take(node, "len(seen)"),
                     steps.take(node, "seen.clear()\nwhile True: pass", "TimeoutException", limits={"wall_ms": TIMEOUT_MS}),
                     steps.take(node, "len(seen)")]
            if [result["value"] for _, result in times] != [STEPS_BEFORE - 1, None, STEPS_BEFORE - 1]:
                section.problems.append(f"a step has not found the state: {times[2][1]['value']}")
            if number:
                for kind, (elapsed, _) in zip((before, stopped, after), times, strict=True):
                    kind.append(elapsed)
    section.records.append({"steps_kept": STEPS_BEFORE, "rounds": len(after), "before_ms": spread(before),
                            "stopped_ms": spread(stopped), "after_ms": spread(after), "after/before": ratios(after, before)})
    return section


class Service:
    """One request after another to a `zygo serve`."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[float, list[dict]]:
        """Milliseconds from the first byte to the last, and the lines of the answer."""
        start = time.perf_counter()
        self._connection.request(method, path, body)
        answer = self._connection.getresponse()
        data = answer.read()
        elapsed = 1000 * (time.perf_counter() - start)
        if answer.status != 200:
            raise BenchError(f"{method} {path}: {answer.status} {data.decode()[:300]}")
        return elapsed, [json.loads(line) for line in data.splitlines()]

    def close(self) -> None:
        self._connection.close()

    def begin(self, **fields) -> str:
        (answer,) = self.ask("POST", "/v1/sessions", job_line(fields))[1]
        return answer["node"]


def _branches(setting: Setting) -> Section:
    progress(f"sessions: {BRANCHES} steps at once")
    section = Section("sessions", f"ms for {BRANCHES} tiny steps from one node by HTTP (`/try`), against a batch of "
                      f"{BRANCHES} tiny jobs; the nodes are kept, or not", part="try")
    tries = {keep: json.dumps({"steps": [{"source": STEP}] * BRANCHES, "keep": keep}).encode() for keep in ("all", "none")}
    seen: dict[str, list[float]] = {name: [] for name in ("batch", *tries)}
    with Server(setting.zygo, "--nodes-memory", MEMORY) as server, contextlib.closing(Service(server)) as service:
        node = service.begin(template="python")
        for number in range(setting.effort.rounds + 1):
            sides: dict[str, Callable] = {"batch": lambda: service.ask(
                "POST", "/v1/batches", lines_of("python", "tiny", BRANCHES))}
            for keep, body in tries.items():
                sides[keep] = lambda body=body: service.ask("POST", f"/v1/nodes/{node}/try", body)
            for name, side in sides.items():
                time.sleep(SETTLE_SECONDS)
                elapsed, lines = side()
                if number:
                    seen[name].append(elapsed)
                    section.problems += wrong_answers([line for line in lines if "label" in line], "tiny")
    for keep in tries:
        section.records.append({"branches": BRANCHES, "keep": keep, "batch_ms": spread(seen["batch"]), "try_ms": spread(seen[keep]),
                                "try/batch": ratios(seen[keep], seen["batch"])})
    return section


def _nodes(setting: Setting) -> Section:
    progress(f"sessions: {setting.effort.nodes} nodes")
    section = Section("sessions", f"a {NUMPY} session, each step at the node before: what a node takes, and processes",
                      part="nodes")
    with Server(setting.zygo, "--nodes-memory", MEMORY) as server, contextlib.closing(Service(server)) as service:
        node = service.begin(template=NUMPY, source="import numpy as np\nseen = [np.arange(1000.0)]")
        for _ in range(WARM_UP):  # what the service itself grows by
            service.ask("POST", f"/v1/nodes/{node}/try", b'{"steps": [{"source": "pass"}], "keep": "none"}')
        time.sleep(SETTLE_SECONDS)
        tree, nodes = process_tree(server.pid), nodes_of(server.pid)
        before = pss_kb(tree)
        times = []
        for number in range(setting.effort.nodes):
            elapsed, (result,) = service.ask("POST", f"/v1/nodes/{node}/run", job_line({"source": f"number = {number}"}))
            node = result["node"]
            times.append(elapsed)
        time.sleep(SETTLE_SECONDS)
        now, more = process_tree(server.pid), nodes_of(server.pid) - nodes
        beyond = 1024 * (pss_kb(now) - before) + more.file_bytes - more.page_bytes
        elapsed, (result,) = service.ask("POST", f"/v1/nodes/{node}/run", job_line({"source": "[number, len(seen)]"}))
    if more.count != setting.effort.nodes or result["value"] != [setting.effort.nodes - 1, 1]:
        section.problems.append(f"{more.count} of {setting.effort.nodes} nodes are there; the last one has {result['value']}")
    section.records.append({
        "nodes": more.count, "own_page_bytes": more.page_bytes // max(1, more.count), "beyond_bytes": beyond // max(1, more.count),
        "processes_before": len(tree), "processes": len(now), "step_ms": tails(times),
    })
    return section
