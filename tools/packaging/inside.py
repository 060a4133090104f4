"""What a wheel and a Debian package must do in a clean root, as root there: installed in each way, the first verdict within seconds, zygo's own
account of the host, and nothing left after uninstalling. Runs inside the root (roots.py), by its own python3 (3.9 or later).

Prints a line for each thing tried; exits 1 if one is not as it should be.
"""

import os
import pwd
import shutil
import subprocess
import sys
import time

WHEEL, DEB, PATIENCE = sys.argv[1], sys.argv[2], float(sys.argv[3])
PIP_LIKE = "--no-index --quiet --disable-pip-version-check --no-warn-script-location".split()
# From 23.0.1 on pip wants to be told that it may install beside Debian's own packages.
BESIDE_DEBIAN = ["--break-system-packages"] if sys.version_info >= (3, 11) else []
USER = "somebody"
MOST_SECONDS = 5
failed = []


def run(command, user=None, stdin=None):
    def become():
        if user:
            os.setgroups([])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
    environment = dict(os.environ, HOME=user.pw_dir if user else "/root", PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          preexec_fn=become, env=environment, cwd=environment["HOME"])


def report(what, good, detail="", always=False):
    print("  {:<44} {} {}".format(what, "ok" if good else "FAILED", detail if always or not good else "").rstrip(), flush=True)
    if not good:
        failed.append(what)


def cpu_seconds():
    times = os.times()
    return times.children_user + times.children_system


def files():
    """Every file and folder where installers write."""
    return sorted(os.path.join(folder, name) for top in ("/usr", "/home", "/root", "/opt")
                  for folder, folders, names in os.walk(top) for name in names + folders
                  if "__pycache__" not in folder and name not in ("__pycache__", ".cache"))


def first_verdict(what, install, program, python, user=None):
    started, used = time.monotonic(), cpu_seconds()
    for command in install:
        ended = run(command, user)
        if ended.returncode:
            report(what, False, ended.stderr.strip())
            return
    ran = run([program, "run", "-"], user, "print(6 * 7)")
    seconds, used = time.monotonic() - started, cpu_seconds() - used
    good = (ran.stdout, ran.returncode) == ("42\n", 0) and seconds < MOST_SECONDS * PATIENCE
    said = (ran.stdout + ran.stderr).strip().replace("\n", " ")
    report(what + ": first verdict", good, "{:.2f} s ({:.2f} s of CPU) {}".format(seconds, used, said), always=True)
    ran = run([python, "-m", "zygo", "run", "-"], user, "import json; print(json.dumps([1]))")
    report(what + ": python -m zygo", (ran.stdout, ran.returncode) == ("[1]\n", 0), ran.stderr.strip())
    code = ("import zygo\nwith zygo.Pool(workers=1) as pool:\n    r = pool.run('def f(x): return x * 2', 'f', [(1, 2)])\n"
            "    print(r.label, r.value, pool.run('while True: pass', limits={'cpu_ms': 100}).label)")
    ran = run([python, "-c", code], user)
    report(what + ": the package", ran.stdout == "OK [(1, 2, 1, 2)] TimeoutException\n",
           ran.stdout.strip() + ran.stderr.strip()[-300:])
    ran = run([program, "doctor"], user)
    report(what + ": zygo doctor", "This host gives level" in ran.stdout, ran.stdout.partition("\n")[0] or ran.stderr.strip(),
           always=True)


def uninstalls(what, python, before, extra=(), user=None):
    removed(what, [python, "-m", "pip", "uninstall", "--yes", "--quiet", *extra, "zygo"], before, user)


def removed(what, command, before, user=None):
    ended = run(command, user)
    left = [path for path in files() if path not in before and "zygo" in path]
    report(what + ": uninstalls clean", ended.returncode == 0 and not left, (ended.stderr.strip() + " " + " ".join(left[:5]))[-300:])


def main():
    """Shells go last: Debian's own tools want one."""
    os.makedirs("/home/" + USER, exist_ok=True)
    with open("/etc/passwd", "a") as passwd:
        passwd.write("{0}:x:1000:1000::/home/{0}:/bin/sh\n".format(USER))
    os.chown("/home/" + USER, 1000, 1000)
    user = pwd.getpwnam(USER)
    report("no compiler", not any(map(shutil.which, ("cc", "gcc", "c++", "clang"))))
    before = set(files())
    pip = ["/usr/bin/python3", "-m", "pip", "install", *PIP_LIKE]

    first_verdict("as root", [[*pip, *BESIDE_DEBIAN, WHEEL]], "/usr/local/bin/zygo", "/usr/bin/python3")
    uninstalls("as root", "/usr/bin/python3", before, BESIDE_DEBIAN)

    first_verdict("as a user, --user", [[*pip, "--user", *BESIDE_DEBIAN, WHEEL]], "/home/" + USER + "/.local/bin/zygo",
                  "/usr/bin/python3", user)
    uninstalls("as a user, --user", "/usr/bin/python3", before, BESIDE_DEBIAN, user)

    first_verdict("Debian package", [["dpkg", "--install", DEB]], "/usr/bin/zygo", "/usr/bin/python3")
    removed("Debian package", ["dpkg", "--purge", "zygo"], before)

    made = run(["/usr/bin/python3", "-m", "venv", "/home/" + USER + "/venv"], user)
    report("as a user, venv: made", made.returncode == 0, made.stderr.strip())
    before = set(files())
    python = "/home/" + USER + "/venv/bin/python"
    first_verdict("as a user, venv", [[python, "-m", "pip", "install", *PIP_LIKE, WHEEL]], "/home/" + USER + "/venv/bin/zygo",
                  python, user)
    uninstalls("as a user, venv", python, before, (), user)

    for shell in ("sh", "bash", "dash"):
        for path in {os.path.realpath("/bin/" + shell), "/bin/" + shell, "/usr/bin/" + shell}:
            if os.path.lexists(path):
                os.remove(path)
    first_verdict("without a shell", [[*pip, *BESIDE_DEBIAN, WHEEL]], "/usr/local/bin/zygo", "/usr/bin/python3")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
