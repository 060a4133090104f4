"""zygo.cluster: engines start pilots, a pool uses them, and nothing is left. Everything but the engines is real."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, List
from unittest import mock

import engines
import support
import zygo
from zygo.cluster import SSH, Cluster, ClusterError, HTCondor, Kubernetes, Slurm

TOKEN = re.compile(r"[0-9a-f]{32}")


def parent_of(pid: int) -> int:
    """0: it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


class Case(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="zygo-engines-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "files").mkdir()
        self.engines = engines.Engines(self.folder)
        changed = mock.patch.dict(os.environ, {**self.engines.environment(), "ZYGO_BIN": str(support.BINARY)})
        changed.start()
        self.addCleanup(changed.stop)
        self.addCleanup(self.end_what_is_left)

    def end_what_is_left(self) -> None:
        for pid in filter(engines.is_alive, self.engines.pids()):
            os.kill(pid, signal.SIGKILL)

    def options(self, **more: Any) -> Any:
        return {"address": "127.0.0.1", "folder": str(self.folder / "files"), "patience": support.PATIENCE, **more}

    def slurm(self, n: int = 2, **more: Any) -> Slurm:
        return Slurm(n, **self.options(**more))

    def pids_of(self, cluster: Cluster) -> List[int]:
        """The router's, and those of pilots, as their command lines tell; not of what a pilot has forked, which may have ended."""
        found: List[int] = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if b"pilot" in words[:2] and any(cluster.url.encode() == word for word in words):
                found.append(int(path.parent.name))
        return ([cluster._router.pid] if cluster._router else []) + [pid for pid in found if parent_of(pid) not in [0, *found]]

    def assert_nothing_is_left(self, cluster: Cluster, pids: List[int] = []) -> None:
        self.assertEqual([pid for pid in [*pids, *self.pids_of(cluster)] if engines.is_alive(pid)], [])
        self.assertEqual((self.engines.queued(), self.engines.secrets(), os.listdir(self.folder / "files")), ([], [], []))


class Engine:
    """What holds for each of them; `cluster` makes one with two pilots."""

    def test_jobs_run_on_pilots_and_the_end_of_the_block_ends_all_processes(self) -> None:
        with self.cluster() as cluster:
            pids = self.pids_of(cluster)
            self.assertEqual(len([pid for pid in pids if engines.is_alive(pid)]), 3)
            self.assertEqual([pilot["state"] for pilot in cluster.pilots()], ["ready"] * 2)
            pool = cluster.pool("python")
            self.assertEqual([result.stdout.text for result in pool.map(f"print({n})" for n in range(20))],
                             [f"{n}\n" for n in range(20)])

        self.assert_nothing_is_left(cluster, pids)
        self.assertRaises(zygo.ZygoError, pool.run, "pass")

    def test_no_token_is_told_to_an_engine_or_stands_in_an_argv(self) -> None:
        with self.cluster() as cluster:
            secret = {cluster.token, cluster._router.token_file.read_text().strip()}
            words = [Path(f"/proc/{pid}/cmdline").read_text() for pid in self.pids_of(cluster)]

        self.assertEqual(len([each for each in secret if TOKEN.fullmatch(each)]), 2)
        for each in secret:
            self.assertNotIn(each, self.engines.asked() + "".join(words))

    def test_an_exception_in_the_block_ends_all_processes_and_arrives(self) -> None:
        for kind in (KeyError, KeyboardInterrupt):
            with self.subTest(kind=kind), self.assertRaises(kind):
                with self.cluster() as cluster:
                    pids = self.pids_of(cluster)
                    waiting = cluster.pool("python").submit("while True: pass", limits={"cpu_ms": 600000, "wall_ms": 600000})
                    raise kind()
            self.assert_nothing_is_left(cluster, pids)
            ended = "cancelled" if waiting.cancelled() else waiting.exception(support.PATIENCE) or waiting.result().label
            self.assertNotEqual(ended, "OK")

    def test_a_submission_that_fails_raises_the_words_of_the_engine_and_leaves_nothing(self) -> None:
        self.engines.set_mode("refuse")
        cluster = self.cluster()

        with self.assertRaisesRegex(ClusterError, engines.WORDS["refuse"]):
            cluster.start()

        self.assert_nothing_is_left(cluster)

    def test_pilots_that_never_join_raise_the_words_of_the_engine_and_leave_nothing(self) -> None:
        self.engines.set_mode("pending")
        cluster = self.cluster(patience=0.5)
        submit = cluster._submit

        def until_the_engine_says_why(printed: str) -> None:
            submit(printed)
            while engines.WORDS["pending"] not in cluster._why():
                time.sleep(0.05)  # engines tell nobody of a change

        with mock.patch.object(cluster, "_submit", until_the_engine_says_why), self.assertRaisesRegex(
                ClusterError, f"(?s)0 of 2 pilots have joined within 0.5 s.*{engines.WORDS['pending']}"):
            cluster.start()

        self.assert_nothing_is_left(cluster)


class OfSlurm(Engine, Case):
    def cluster(self, **more: Any) -> Slurm:
        return self.slurm(**more)

    def test_pilots_that_die_are_not_waited_for(self) -> None:
        self.engines.set_mode("die")

        with self.assertRaisesRegex(ClusterError, f"(?s)no other will.*{engines.WORDS['die']}"):
            self.slurm(patience=100000).start()

    def test_directives_are_options_of_sbatch(self) -> None:
        with self.slurm(1, directives={"partition": "short", "exclusive": "user"}):
            self.assertIn("--partition=short --exclusive=user", self.engines.asked())

    def test_what_is_required_reaches_pilots_and_the_token_of_another_service_does_not(self) -> None:
        with mock.patch.dict(os.environ, {"ZYGO_TOKEN": "of-another-service"}), self.slurm(1, require="contained") as cluster:
            pids = self.pids_of(cluster)[1:]
            said = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
            told = [Path(f"/proc/{pid}/environ").read_bytes() for pid in pids]

        self.assertEqual([b"\0--require\0contained\0" in each for each in said], [True])
        self.assertFalse(b"of-another-service" in b"".join(told))  # without a print of the environment

    def test_a_pilot_that_is_enough_lets_the_block_begin(self) -> None:
        self.engines.set_mode("first")
        with self.slurm(2, at_least=1) as cluster:
            self.assertEqual((len(cluster.pilots()), len(self.engines.queued())), (1, 2))

    def test_ctrl_c_while_pilots_are_waited_for_ends_what_was_submitted(self) -> None:
        self.engines.set_mode("pending")
        code = (f"import zygo\nwith zygo.cluster.Slurm(2, address='127.0.0.1', folder={str(self.folder / 'files')!r}):\n"
                "    print('never')")
        waiting = subprocess.Popen([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": str(support.PACKAGE)},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "squeue" not in self.engines.asked():  # it is over when the child has begun to wait, or has ended
            self.assertIsNone(waiting.poll())
            time.sleep(0.05)  # nobody tells of a file that grows
        waiting.send_signal(signal.SIGINT)
        out, said = waiting.communicate(timeout=support.PATIENCE)

        self.assertEqual((out, said.splitlines()[-1]), ("", "KeyboardInterrupt"))
        self.assertEqual((self.engines.queued(), os.listdir(self.folder / "files")), ([], []))
        self.assertIn("scancel", self.engines.asked())

    def test_what_is_started_without_a_block_ends_with_the_interpreter(self) -> None:
        ended = support.python("import zygo\n"
                               f"cluster = zygo.cluster.Slurm(1, address='127.0.0.1', folder={str(self.folder / 'files')!r})\n"
                               "print(cluster.start().pool('python').run('print(6 * 7)').stdout.text, end='')")

        self.assertEqual((ended.stdout, ended.stderr), ("42\n", ""))
        self.assertEqual((self.engines.queued(), os.listdir(self.folder / "files")), ([], []))

    def test_pilots_that_cannot_be_ended_are_told(self) -> None:
        with self.assertWarnsRegex(RuntimeWarning, f"(?s)pilots may be left.*RUNNING.*{engines.WORDS['keep']}"):
            with self.slurm(1, ending=0.1) as cluster:
                router = cluster._router.pid
                self.engines.set_mode("keep")

        self.assertFalse(engines.is_alive(router))

    def test_close_closes_its_pools_and_lets_it_start_again(self) -> None:
        cluster = self.slurm(1)
        for _ in range(2):
            pool = cluster.start().pool("python")
            self.assertTrue(pool.run("pass"))
            cluster.close()
            with self.assertRaisesRegex(zygo.ZygoError, "the pool is closed"):
                pool.run("pass")
        self.assertEqual(len(self.engines.pids()), 2)

    def test_a_child_of_fork_ends_nothing_of_its_parents(self) -> None:
        with self.slurm(1) as cluster:
            child = os.fork()
            if child == 0:
                cluster.close()
                os._exit(0)
            os.waitpid(child, 0)

            self.assertEqual(len(self.engines.queued()), 1)
            self.assertTrue(cluster.pool("python").run("pass"))

    def test_a_router_that_is_there_is_used_and_stays(self) -> None:
        with self.slurm(1) as first:
            of_pilots = first._router.token_file
            (self.folder / "own-token").write_text(first.token)
            second = Slurm(1, url=first.url, token_file=str(self.folder / "own-token"), pilot_token_file=str(of_pilots),
                           folder=str(self.folder / "files"), patience=support.PATIENCE)
            with second:
                self.assertEqual((len(first.pilots()), len(second.pilots()), len(self.engines.queued())), (1, 1, 2))
                self.assertTrue(second.pool("python").run("pass"))

            self.assertEqual(len(self.engines.queued()), 1)
            self.assertTrue(first.pool("python").run("pass"))

    def test_a_router_that_dies_is_told_where_pilots_are_waited_for(self) -> None:
        self.engines.set_mode("pending")
        cluster = self.slurm()
        submit = cluster._submit

        def and_kill(printed: str) -> None:
            submit(printed)
            os.kill(cluster._router.pid, signal.SIGKILL)

        with mock.patch.object(cluster, "_submit", and_kill), self.assertRaisesRegex(ClusterError, "zygo route ended"):
            cluster.start()
        self.assertEqual(self.engines.queued(), [])


class OfHTCondor(Engine, Case):
    def cluster(self, **more: Any) -> HTCondor:
        return HTCondor(2, **self.options(**more))

    def test_its_parameters_reach_condor(self) -> None:
        with HTCondor(1, pool="collector.example", schedd="schedd.example", disk="2G",
                      directives={"universe": "vanilla", "+Project": '"arc"'}, **self.options()):
            pass

        asked = self.engines.asked()
        self.assertIn("condor_submit -terse -pool collector.example -name schedd.example -batch-name", asked)
        for line in ("request_disk = 2G", "universe = vanilla", '+Project = "arc"'):
            self.assertIn(f"-append '{line}'", asked)
        for program in ("condor_q", "condor_rm"):
            self.assertIn(f"{program} -pool collector.example -name schedd.example -constraint", asked)


    def test_pilots_that_are_held_are_not_waited_for(self) -> None:
        self.engines.set_mode("hold")

        with self.assertRaisesRegex(ClusterError, f"(?s)no other will.*{engines.WORDS['hold']}"):
            self.cluster(patience=100000).start()
        self.assertEqual(self.engines.queued(), [])

    def test_what_is_required_reaches_pilots_beside_an_environment_of_the_callers(self) -> None:
        with HTCondor(1, require="contained", directives={"environment": "A=1"}, **self.options()) as cluster:
            said = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.pids_of(cluster)[1:]]

            self.assertEqual([b"\0--require\0contained\0" in each for each in said], [True])
            self.assertIn("-append 'environment = A=1'", self.engines.asked())


class OfKubernetes(Engine, Case):
    def cluster(self, **more: Any) -> Kubernetes:
        return Kubernetes(2, **self.options(**more))

    def test_all_that_was_made_has_a_name_of_its_own_and_is_deleted_by_it(self) -> None:
        with Kubernetes(1, namespace="lab", context="test", image="zygo-pilot:1", **self.options()) as cluster:
            name = cluster._name

        asked = self.engines.asked()
        self.assertIn(f"kubectl --context test -n lab create secret generic {name} --from-file=", asked)
        self.assertIn('image: "zygo-pilot:1"', asked)
        self.assertEqual(re.findall(r"(?:name|Name): zygo-pilot$", asked, re.MULTILINE), [])
        self.assertIn(f"delete secret,deployment,networkpolicy,horizontalpodautoscaler {name} --ignore-not-found", asked)


    def test_containers_without_logs_keep_no_other_words_back(self) -> None:
        self.engines.set_mode("pending")

        with self.assertRaisesRegex(ClusterError, f"(?s){engines.WORDS['pending']}.*waiting to start"):
            self.cluster(patience=0.5).start()


class OfSSH(Engine, Case):
    def cluster(self, **more: Any) -> SSH:
        return SSH(["127.0.0.1", "localhost"], **self.options(**more))

    def test_the_token_is_brought_and_removed(self) -> None:
        with self.cluster() as cluster:
            self.assertEqual((cluster._at / "token").stat().st_mode & 0o777, 0o600)

        self.assertFalse(cluster._at.exists())

    def test_hosts_that_die_are_not_waited_for(self) -> None:
        self.engines.set_mode("die")

        with self.assertRaisesRegex(ClusterError, f"(?s)no other will.*{engines.WORDS['die']}"):
            self.cluster(patience=100000).start()


def triple(number: int) -> int:
    return 3 * number


@support.needs_functions
class ThePackageOnPilots(Case):
    def test_executor_loop_asyncio_graders_and_joblib_take_its_pool(self) -> None:
        with self.slurm(2) as cluster:
            pool = cluster.pool("python")
            with zygo.Executor(pool=pool) as executor:
                self.assertEqual(list(executor.map(triple, range(4))), [0, 3, 6, 9])
            self.assertEqual(sorted(value for _, value in zygo.parallel(pool=pool)(triple)([1, 2])), [3, 6])
            self.assertEqual(asyncio.run(self.awaited(pool)), 21)
            self.assertTrue(self.graded(pool)["passed"])
            if support.has("joblib"):
                self.assertEqual(self.by_joblib(pool), [0, 3, 6])
            self.assertEqual(sum(pilot["ended"] for pilot in cluster.pilots()) > 0, True)

    @support.needs_checkout
    def test_the_example_of_the_readme_prints_what_it_says(self) -> None:
        page = (support.SOURCE / "README.md").read_text(encoding="utf-8")
        found = re.search(r"```python\n([^`]*zygo\.cluster\.[^`]*)```\n\n```text\n(.*?)```", page, re.DOTALL)
        assert found
        here = f'Slurm(2, address="127.0.0.1", folder={str(self.folder / "files")!r},'
        ended = support.python(found.group(1).replace("Slurm(2,", here))

        self.assertEqual((ended.stdout, ended.stderr), (found.group(2), ""))
        self.assertEqual(self.engines.queued(), [])

    async def awaited(self, pool: zygo.Pool) -> Any:
        async with zygo.AsyncPool(pool=pool) as waiting:
            return await waiting.call(triple, 7)

    def graded(self, pool: zygo.Pool) -> Any:
        from zygo import grade

        problem = {"task_id": "T/0", "entry_point": "add", "prompt": "def add(a, b):\n",
                   "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
        return grade.check_correctness(problem, "    return a + b\n", timeout=10, pool=pool)

    def by_joblib(self, pool: zygo.Pool) -> Any:
        import joblib

        zygo.register_joblib()
        with getattr(joblib, "parallel_config", joblib.parallel_backend)("zygo", pool=pool):
            return joblib.Parallel(n_jobs=-1)(joblib.delayed(triple)(n) for n in range(3))


class Mistakes(Case):
    def test_a_wrong_parameter_raises_where_the_object_is_made_and_is_named(self) -> None:
        token = str(self.folder / "token")
        Path(token).write_text("t\n")
        for named, make in {
                "n=0": lambda: Slurm(0), "n='2'": lambda: Slurm("2"), "cpus=0": lambda: Slurm(cpus=0),
                "at_least=3": lambda: Slurm(2, at_least=3), "memory='much'": lambda: Slurm(memory="much"),
                "patience=0": lambda: Slurm(patience=0), "ending='x'": lambda: Slurm(ending="x"),
                "slot_time=-1": lambda: Slurm(slot_time=-1), "folder='/none'": lambda: Slurm(folder="/none"),
                "port=70000": lambda: Slurm(port=70000), "join='http://a'": lambda: Slurm(join="http://a"),
                "pilot_token_file": lambda: Slurm(url="http://127.0.0.1:1"),
                "token_file='/none'": lambda: Slurm(url="http://127.0.0.1:1", token_file="/none", pilot_token_file=token),
                "address='a'": lambda: Slurm(url="http://127.0.0.1:1", pilot_token_file=token, address="a"),
                "array": lambda: Slurm(directives={"array": "1-9"}), "a b": lambda: Slurm(directives={"a b": 1}),
                "control": lambda: HTCondor(directives={"rank": "1\nqueue 9"}), "pool='-x'": lambda: HTCondor(pool="-x"),
                "schedd=''": lambda: HTCondor(schedd=""), "request_cpus": lambda: HTCondor(directives={"request_cpus": 2}),
                "namespace": lambda: Kubernetes(namespace="A"), "most=1": lambda: Kubernetes(2, most=1),
                "--require": lambda: Slurm(require="nonsense"),
                "require=": lambda: Kubernetes(require="full"), "hosts": lambda: SSH([]), "hosts: '-x'": lambda: SSH(["-x"]),
                "--cpus": lambda: Slurm(cpus=5000), "cpus:": lambda: SSH(["a"], cpus=2)}.items():
            with self.subTest(named=named), self.assertRaisesRegex((ValueError, TypeError), re.escape(named)):
                make()
        self.assertEqual(self.engines.asked(), "")

    def test_an_engine_that_is_not_there_is_named_and_no_router_is_started(self) -> None:
        cluster = self.slurm()
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}), self.assertRaisesRegex(ClusterError, "sbatch is not in PATH"):
            cluster.start()

    def test_no_pool_is_given_before_the_start_and_none_with_another_url(self) -> None:
        cluster = self.slurm(1)
        self.assertRaises(ClusterError, cluster.pool)
        with cluster, self.assertRaisesRegex(ValueError, "url"):
            cluster.pool(url="http://127.0.0.1:1")

    def test_a_router_that_cannot_be_reached_says_so_before_anything_is_submitted(self) -> None:
        (self.folder / "token").write_text("t\n")
        cluster = Slurm(1, url=f"unix:{self.folder}/none", pilot_token_file=str(self.folder / "token"),
                        folder=str(self.folder / "files"))

        self.assertRaises(zygo.RuntimeLost, cluster.start)
        self.assertNotIn("sbatch", self.engines.asked())


if __name__ == "__main__":
    support.main()
