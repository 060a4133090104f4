"""What the image must do, inside of its root and on a network of its own (roots.py): started as the image says, the service
answers, and ends by the image's signal. Arguments: the image's configuration, as JSON, and a factor for the time it may take.

Prints a line for each thing tried; exits 1 if one is not as it should be.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request

CONFIG = json.loads(sys.argv[1])
PATIENCE = float(sys.argv[2])
MOST_SECONDS = 5
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def ask(port):
    job = json.dumps({"source": "print(6 * 7)"}).encode()
    with urllib.request.urlopen("http://127.0.0.1:{}/v1/jobs".format(port), job, 60) as answer:
        result = json.load(answer)
    return "{} {} at level {}".format(result["label"], result["stdout"]["text"].strip(), result["level"])


def report(what, good, detail):
    print("  {:<44} {} {}".format(what, "ok" if good else "FAILED", detail).rstrip(), flush=True)


def main():
    raise_loopback()
    environment = dict(word.split("=", 1) for word in CONFIG["Env"])
    (port,) = (port.partition("/")[0] for port in CONFIG["ExposedPorts"])
    started = time.monotonic()
    service = subprocess.Popen(CONFIG["Entrypoint"] + CONFIG["Cmd"], env={**environment, "ZYGO_ALLOW_ANYONE": "yes"}, cwd="/",
                               stderr=subprocess.PIPE, text=True)
    health = CONFIG["Healthcheck"]["Test"][1:]
    while service.poll() is None and subprocess.call(health, env=environment, stderr=subprocess.DEVNULL):
        time.sleep(0.05)  # the health check is all that an image has to say when it is ready
    if service.poll() is not None:
        report("the service starts", False, service.stderr.read().strip())
        return 1
    said = ask(port)
    seconds = time.monotonic() - started
    right = said == "OK 42 at level full" and seconds < MOST_SECONDS * PATIENCE
    report("as root: first verdict", right, "{:.2f} s {}".format(seconds, said))
    service.send_signal(getattr(signal, CONFIG["StopSignal"]))
    errors = service.communicate(timeout=60)[1]
    ended = service.returncode == 0
    report("ends by the image's signal", ended, "" if ended else errors.strip())
    return 0 if right and ended else 1


if __name__ == "__main__":
    sys.exit(main())
