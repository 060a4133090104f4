"""The setup file of a template that runs functions: `inside.py`, the sources that the sandbox could not import
otherwise (this package, `python_path`, a cloudpickle that lies outside the interpreter's directories), and what the
caller wants run once (`preload`, `context_func`). Run by the template when it starts, so that no job pays for it.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

from . import pickles, trials
from .errors import ZygoError

_MOST_BYTES = 64 << 20
_PACKAGE = Path(__file__).resolve().parent

# Modules out of a dict of sources. Compiled where they are first imported: in the template, or in the job.
_IMPORTER = '''
class _Importer:
    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        import importlib.util
        base = name.replace(".", "/")
        for is_package, key in ((True, base + "/__init__.py"), (False, base + ".py")):
            if key in self.sources:
                spec = importlib.util.spec_from_loader(name, self, origin="/packed/" + key, is_package=is_package)
                spec.has_location = True
                return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        key = module.__spec__.origin[len("/packed/"):]
        exec(compile(self.sources[key], module.__spec__.origin, "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name):
        spec = self.find_spec(name)
        return self.sources[spec.origin[len("/packed/"):]] if spec else None


def _unpack(data):
    import base64, json, zlib
    sources = json.loads(zlib.decompress(base64.b85decode(data)))
    sys.meta_path.append(_Importer(sources))
'''


def inside_source() -> str:
    return (_PACKAGE / "inside.py").read_text(encoding="utf-8")


def _sources_of(folder: Path, prefix: str = "") -> Iterator[Tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if any(part.startswith(".") or part == "__pycache__" for part in relative.parts):
            continue
        yield prefix + relative.as_posix(), path.read_text(encoding="utf-8", errors="replace")


def _collect(python_path: Sequence[str]) -> Dict[str, str]:
    sources: Dict[str, str] = {}
    for entry in reversed(list(python_path)):  # the first wins
        if not os.path.isdir(entry):
            raise ZygoError(f"python_path: {entry} is no directory")
        sources.update(_sources_of(Path(entry)))
    directories = pickles.interpreter_directories()
    if not pickles.is_visible(str(_PACKAGE / "__init__.py"), directories):
        sources.update(_sources_of(_PACKAGE, "zygo/"))
    spec = importlib.util.find_spec("cloudpickle")
    if spec and spec.origin and not pickles.is_visible(spec.origin, directories):
        sources.update(_sources_of(Path(spec.origin).parent, "cloudpickle/"))
    if sum(map(len, sources.values())) > _MOST_BYTES:
        raise ZygoError(f"python_path: more than {_MOST_BYTES >> 20} MiB of sources; better install them")
    return sources


def setup_source(python_path: Sequence[str] = (), preload: Sequence[str] = (),
                 context_func: Optional[Callable[[], Any]] = None) -> str:
    import json

    text = io.StringIO()
    text.write(inside_source())
    sources = _collect(python_path)
    if sources:
        packed = base64.b85encode(zlib.compress(json.dumps(sources).encode())).decode()
        text.write(f"\n{_IMPORTER}\n_unpack({packed!r})\n")
    text.write('os.environ["JOBLIB_MULTIPROCESSING"] = "0"\nos.environ["ZYGO_INSIDE"] = "1"\n')
    text.write("try:\n    import cloudpickle\nexcept ImportError:\n    pass\n")  # what unpickles functions
    for name in preload:
        text.write(f"__import__({name!r})\n")
    text.write(trials.source())
    if context_func is not None:
        function = pickles.dump_function(context_func, [os.path.abspath(entry) for entry in python_path])
        text.write(f"sys.modules['zygo_setup'].context = pickle.loads({function!r})()\n")
    return text.getvalue()


class SetupFile:
    """The file, for as long as a template may be started from it. Its name is not to be guessed: a template of another
    uid must be able to read it, and other users of the host should not find it."""

    def __init__(self, source: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="zygo-")
        os.chmod(self._folder, 0o711)
        self.path = os.path.join(self._folder, f"setup-{os.urandom(12).hex()}.py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(source)
        os.chmod(self.path, 0o644)
        self._owner = os.getpid()
        util = sys.modules.get("multiprocessing.util")
        if util:  # its children end without what atexit knows
            util.Finalize(None, self.remove, exitpriority=0)

    def remove(self) -> None:
        if self._owner == os.getpid():
            shutil.rmtree(self._folder, ignore_errors=True)
