"""joblib on zygo: `zygo.register_joblib()`, then `parallel_config(backend="zygo")` (before joblib 1.3:
`parallel_backend("zygo")`). A batch of joblib's is one job, in a sandbox of its own.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .calls import Lane, ValueFuture
from .checks import mebibytes
from .errors import ZygoError
from .pool import Caller, Pool, is_inside

try:
    import joblib
    from joblib.parallel import ParallelBackendBase, SequentialBackend
except ImportError:
    joblib = None
    ParallelBackendBase = object


class ZygoBackend(ParallelBackendBase):  # type: ignore[misc]
    """Its parameters are those of `Pool`, and those of joblib-htcondor: what has no meaning here is said once."""

    supports_timeout = True
    supports_sharedmem = False
    supports_inner_max_num_threads = False
    supports_retrieve_callback = True
    uses_threads = False
    nesting_level: Optional[int] = 0

    def __init__(self, pool: Union[None, Pool, str] = None, *, throttle: Union[None, int, Sequence[int]] = None,
                 request_cpus: int = 1, request_memory: Union[None, int, str] = None,
                 request_disk: Union[None, int, str] = None, batch_size: Optional[int] = None,
                 limits: Optional[Mapping[str, int]] = None, types: Sequence[type] = (),
                 trust_results: Optional[bool] = None, nesting_level: Optional[int] = 0,
                 inner_max_num_threads: Optional[int] = None, **options: Any) -> None:
        super().__init__(nesting_level=nesting_level, inner_max_num_threads=inner_max_num_threads)
        if pool is not None and not isinstance(pool, Pool):  # there, the collector's address
            options["pool"], pool = pool, None
        self._given, self._options = pool, _understood(options)
        self._throttle = throttle[0] if isinstance(throttle, Sequence) else throttle
        self._batch_size = batch_size or 1
        self._fields = {"limits": {**_requested(request_memory, request_disk), **(limits or {})}}
        self._cpus, self._types, self._trust = request_cpus, types, trust_results
        self._pool: Optional[Pool] = None
        self._caller: Optional[Caller] = None
        self._lock = threading.Lock()
        self._futures: weakref.WeakSet[ValueFuture] = weakref.WeakSet()

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            self._pool = self._given or Pool(**self._options)
        return self._pool

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        """n_jobs=-1: as many as the runtime runs at once, or the throttle."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if is_inside():
            return 1
        most = max(1, self.pool.workers // self._cpus)
        wanted = most if n_jobs is None or n_jobs == -1 else max(1, most + 1 + n_jobs) if n_jobs < 0 else n_jobs
        return max(1, min(wanted, self._throttle or wanted))

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        n_jobs = self.effective_n_jobs(n_jobs)
        self.parallel = parallel
        # More than the runtime runs at once only wait there rather than here.
        lane = Lane(n_jobs) if n_jobs < self.pool.workers else Lane()
        self._caller = self.pool.caller(lane, self._trust, self._types, **self._fields)
        return n_jobs

    def apply_async(self, func: Any, callback: Optional[Callable[[Any], None]] = None) -> ValueFuture:
        """`func` is joblib's own bundle of calls: the calls travel, it stays here."""
        assert self._caller
        calls = [(function, tuple(args), kwargs) for function, args, kwargs in getattr(func, "items", [(func, (), {})])]
        future = self._caller.submit(calls)
        with self._lock:
            self._futures.add(future)
        if callback:
            future.add_done_callback(callback)
        return future

    submit = apply_async  # its name from joblib 1.5 on

    def retrieve_result_callback(self, out: ValueFuture) -> List[Any]:
        values: List[Any] = out.result()
        return values

    def compute_batch_size(self) -> int:
        return self._batch_size

    def get_nested_backend(self) -> Any:
        """A job that asks for more processes gets none: it runs them in itself, one after the other."""
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

    def abort_everything(self, ensure_ready: bool = True) -> None:
        with self._lock:
            futures = list(self._futures)
        for future in futures:
            future.cancel()
        if ensure_ready:
            self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

    def terminate(self) -> None:
        """The runtime stays, for the next Parallel."""
        self._caller = None


# Names of joblib-htcondor's that have no effect here, and why, for whom has them in a script.
_OF_A_CLUSTER = "zygo.cluster.HTCondor has it; give its pool() as pool="
_ANSWERS = {
    "pool": _OF_A_CLUSTER, "schedd": _OF_A_CLUSTER, "universe": _OF_A_CLUSTER, "extra_directives": _OF_A_CLUSTER,
    "initial_dir": "a job's working directory is its own and empty; give files by `defaults={'files': ...}`",
    "max_recursion_level": "nested parallelism runs in the job that asks for it, so there is no recursion to limit",
    "worker_log_level": "logging.getLogger('zygo').setLevel(...)",
    "poll_interval": "results are streamed; nothing is polled",
    "shared_data_dir": "nothing goes through files; what all jobs read belongs into context_func",
    "delete_task_file_on_load": "there are no task files",
    "log_dir_prefix": "there are no log files: what a program prints is in its result",
    "export_metadata": "each result carries its usage and timing",
}


def _understood(given: Mapping[str, Any]) -> Dict[str, Any]:
    """Those that a pool takes."""
    options = {name: value for name, value in given.items() if name not in _ANSWERS}
    for name in given:
        if name in _ANSWERS:
            warnings.warn(f"zygo: {name} has no effect: {_ANSWERS[name]}", stacklevel=4)
    if isinstance(options.get("python_path"), (str, os.PathLike)):  # there, the interpreter
        options["python"] = os.fspath(options.pop("python_path"))
    return options


def _requested(memory: Union[None, int, str], disk: Union[None, int, str]) -> Mapping[str, int]:
    asked = (("memory_mb", memory), ("disk_mb", disk))
    return {name: mebibytes(size) for name, size in asked if size is not None}


def register_joblib(name: str = "zygo", make_default: bool = False) -> None:
    """Makes the backend known to joblib. `make_default`: for every Parallel that names none."""
    if joblib is None:
        raise ZygoError("joblib is not installed (python3-joblib)")
    joblib.register_parallel_backend(name, ZygoBackend, make_default=make_default)


