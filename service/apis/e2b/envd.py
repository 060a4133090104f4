"""What is done to the files of a sandbox and with its programs: one order, in a step of its session.

Bytes go to standard output, and behind them, on a line of its own, what became of the order, as JSON.
"""

import datetime
import errno
import json
import os
import re
import shutil
import stat
import subprocess
import tarfile

HOME = "/home/user"
scratch = HOME if os.access(HOME, os.W_OK) else os.environ.get("HOME") or os.getcwd()
real_scratch = os.path.realpath(scratch)
TYPES = {stat.S_IFREG: "FILE_TYPE_FILE", stat.S_IFDIR: "FILE_TYPE_DIRECTORY", stat.S_IFLNK: "FILE_TYPE_SYMLINK"}
MOST_ENTRIES = 20_000


class Failure(Exception):
    """Of an order: a code of Connect's, and a sentence."""


def place_of(path):
    """Where it is here. Names that are not absolute are below the user's home."""
    path = os.path.normpath(os.path.join(HOME, path[2:] if path.startswith("~/") else HOME if path == "~" else path))
    if scratch != HOME and (path + "/").startswith(HOME + "/"):
        path = scratch + path[len(HOME):]
    return path


def name_of(place):
    """As its client knows it."""
    for top in (scratch, real_scratch):
        if top != HOME and (place + "/").startswith(top + "/"):
            return HOME + place[len(top):]
    return place


def time_of(seconds):
    """A file may say of itself that it is of a year that datetime does not know."""
    try:
        time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        time = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
    return time.isoformat().replace("+00:00", "Z")


def entry_of(place):
    found = os.lstat(place)
    entry = {"name": os.path.basename(place), "path": name_of(place), "size": str(found.st_size),
             "mode": stat.S_IMODE(found.st_mode), "permissions": stat.filemode(found.st_mode), "owner": "user",
             "group": "user", "modifiedTime": time_of(found.st_mtime)}
    if stat.S_ISLNK(found.st_mode):
        entry["symlinkTarget"] = name_of(os.path.realpath(place))
        if os.path.exists(place):
            found = os.stat(place)
    entry["type"] = TYPES.get(stat.S_IFMT(found.st_mode), "FILE_TYPE_UNSPECIFIED")
    return entry


def stat_(path):
    return {"entry": entry_of(place_of(path))}


def names_in(folder, level):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        if level > 1:
            return []
        raise


def list_(path, depth):
    top = place_of(path)
    if not os.path.isdir(top):
        os.lstat(top)
        raise Failure("invalid_argument", f"path is not a directory: {path}")
    entries, places = [], [(name, 1) for name in reversed(names_in(top, 1))]
    while places:  # what is in a folder comes behind it, before what is beside it
        name, level = places.pop()
        place = os.path.join(top, name)
        try:
            entries.append(entry_of(place))
        except OSError:  # gone meanwhile, or not to be looked at
            continue
        if len(entries) > MOST_ENTRIES:
            raise Failure("resource_exhausted", f"more than {MOST_ENTRIES} entries: {path}")
        if level < depth and os.path.isdir(place) and not os.path.islink(place):
            places += [(os.path.join(name, each), level + 1) for each in reversed(names_in(place, level + 1))]
    return {"entries": entries}


def make_dir(path):
    place = place_of(path)
    if os.path.isdir(place):
        raise Failure("already_exists", f"directory already exists: {path}")
    if os.path.lexists(place):
        raise Failure("invalid_argument", f"path already exists but it is not a directory: {path}")
    os.makedirs(place)
    return {"entry": entry_of(place)}


def move(source, destination):
    place = place_of(destination)
    os.lstat(place_of(source))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.rename(place_of(source), place)
    return {"entry": entry_of(place)}


def remove(path):
    place = place_of(path)
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.unlink(place)
    return {}


def read(path, most):
    place = place_of(path)
    if os.path.isdir(place):
        raise Failure("invalid_argument", f"path '{path}' is a directory")
    if os.stat(place).st_size > most:
        raise Failure("resource_exhausted", f"the file has more than the {most} bytes that can be read here: {path}")
    with open(place, "rb") as file:
        put(file.read(most))
    return {}


def overwrite(place, uploaded):
    """The file stays the one that it is, with its mode, its links and what it is a link to."""
    with open(uploaded, "rb") as source, open(place, "wb") as file:
        shutil.copyfileobj(source, file)


def write(files, at):
    told = []
    for number, path in enumerate(files):
        place = place_of(path)
        if os.path.isdir(place):
            raise Failure("invalid_argument", f"path is a directory: {path}")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        uploaded = os.path.join(at, str(number))
        if os.path.lexists(place):
            overwrite(place, uploaded)
        else:
            shutil.move(uploaded, place)
        told.append({"name": os.path.basename(place), "type": "file", "path": name_of(place)})
    return {"files": told}


def run(program, arguments, variables, directory):
    place = place_of(directory or HOME)
    if not os.path.isdir(place):
        raise Failure("invalid_argument", f"cwd '{directory}' does not exist")
    try:
        code = subprocess.call([program, *arguments], cwd=place, env={**os.environ, "PWD": place, **variables},
                               stdin=subprocess.DEVNULL)
        if code and any(re.search(r"\bpip3?\s+install\b", word) for word in arguments):
            os.write(2, b"zygo: packages cannot be installed in a sandbox: there is no network\n")
    except FileNotFoundError:
        raise Failure("invalid_argument", f"there is no program {program}") from None
    return {"exit": code if code >= 0 else 128 - code}


def enter(path):
    os.chdir(place_of(path))
    return {}


class Out:
    """Standard output, as tarfile wants it."""

    def write(self, data):
        put(data)
        return len(data)


def pack():
    """All files, for another context of the sandbox."""
    with tarfile.open(fileobj=Out(), mode="w|") as archive:
        add(archive, "")
    return {}


def add(archive, name):
    """What may not be read stays behind."""
    place = os.path.join(scratch, name)
    try:
        if name:
            archive.add(place, name, recursive=False)
        inside = sorted(os.listdir(place)) if os.path.isdir(place) and not os.path.islink(place) else []
    except PermissionError:
        return
    for each in inside:
        add(archive, os.path.join(name, each))


def unpack(at, path, variables):
    restore(variables)
    archive = os.path.join(at, "0")
    if os.path.exists(archive):
        with tarfile.open(archive) as packed:
            packed.extractall(scratch, filter="fully_trusted") if hasattr(tarfile, "data_filter") else packed.extractall(scratch)
    return enter(path)


def restore(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return {}


def put(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]


def here():
    """The working directory; where that has been removed, the first one, from now on."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        os.chdir(scratch)
        return scratch


def obey(order):
    at = here()
    try:
        return {"ok": globals()[order.pop("do")](**order)}
    except Failure as failure:
        code, message = failure.args
    except FileNotFoundError:
        code, message = "not_found", "no such file or directory: " + str(order.get("path") or order.get("source") or "")
    except FileExistsError as error:
        code, message = "already_exists", str(error)
    except NotADirectoryError as error:
        code, message = "invalid_argument", str(error)
    except PermissionError as error:
        code, message = "permission_denied", str(error)
    except (OSError, ValueError) as error:
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        is_theirs = isinstance(error, OSError) and error.errno in (errno.EINVAL, errno.ENAMETOOLONG)
        code, message = "resource_exhausted" if is_full else "invalid_argument" if is_theirs else "internal", str(error)
    finally:
        shutil.rmtree(os.path.join(at, ".e2b-upload"), ignore_errors=True)
    return {"code": code, "message": message}


def words_of(told):
    """As JSON in UTF-8: names of files may be any bytes, which are halves of surrogate pairs here."""
    return re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(told, ensure_ascii=False)).encode()


put(b"\n" + words_of(obey(json.loads(order))) + b"\n")
