"""Leave files, processes and changes behind

Profile: subprocess
Ends: OK, UnsafeCode
"""
import resource
import signal
import stat

os.makedirs("deep/" * 60)
for path in ("left", ".hidden", "deep/locked"):
    with open(path, "w") as file:
        file.write("left by the first job")
if os.getcwd() == "/tmp":  # the scratch by its other name; elsewhere this would be an attempt by itself
    open("/dev/shm/zygo-left", "w").close()
os.mkfifo("fifo")
os.symlink("/etc", "link")
os.chmod("deep/locked", 0)
os.chmod("deep", 0)
json.left = os.left = sys.left = "left by the first job"
os.environ["ZYGO_LEFT"] = "1"
os.umask(0)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
signal.setitimer(signal.ITIMER_REAL, 3600)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
kept = ["processes were refused"]
try:
    away, told = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:  # whoever ends the first has not ended the second
                os.setsid()
                os.write(told, b".")
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            while True:
                signal.pause()
        os._exit(0)
    os.wait()
    os.close(told)
    os.read(away, 1)  # not before both have left the group, or cannot
    kept = ["and processes"]
except OSError:
    pass
TRIAL.check("left", True, f"files, changes {kept[0]}")
TRIAL.report()
os._exit(0)
