"""Signal zygo, its helpers, or everybody

By: pidns, uid, landlock
"""
import signal
import threading

NO = (*REFUSED, errno.ESRCH)
victim, daemon = FACTS["victim"], FACTS["daemon"]


def by_pidfd(pid, number):
    return raw("pidfd_send_signal", raw("pidfd_open", pid, 0), number, None, 0)


# Signals that do no harm, except to the process that was put there for this.
TRIAL.attempt("kill the victim", lambda: os.kill(victim, signal.SIGKILL), *NO)
TRIAL.attempt("kill it, raw", lambda: raw("kill", victim, 9), *NO)
TRIAL.attempt("tgkill it", lambda: raw("tgkill", victim, victim, 9), *NO)
TRIAL.attempt("its group", lambda: os.killpg(victim, signal.SIGKILL), *NO)
TRIAL.attempt("queue a signal", lambda: raw("rt_sigqueueinfo", victim, 9, (ctypes.c_int * 32)(9, 0, -1)), *NO)
TRIAL.attempt("by pidfd", lambda: by_pidfd(victim, 9), *NO, errno.ENOSYS)
TRIAL.attempt("zygo", lambda: os.kill(daemon, signal.SIGCONT), *NO)
TRIAL.attempt("zygo, by pidfd", lambda: by_pidfd(daemon, 0), *NO, errno.ENOSYS)
TRIAL.attempt("the parent", lambda: os.kill(os.getppid() or 1, signal.SIGCONT), *NO)
TRIAL.attempt("pid 1", lambda: os.kill(1, signal.SIGCONT), *NO)
# The value of kill(-1) tells nothing: it is 0, too, when every single process was refused. The victim tells if it came.
try:
    os.kill(-1, signal.SIGWINCH)
    TRIAL.check("everybody", True, "sent; the victim would notice")
except OSError as refusal:
    TRIAL.check("everybody", refusal.errno in NO, errno.errorcode[refusal.errno])
# A domain may be a thread's own: from another thread as well.
thread = threading.Thread(target=lambda: TRIAL.attempt("the parent, in a thread",
                                                       lambda: os.kill(os.getppid() or 1, signal.SIGCONT), *NO))
thread.start()
thread.join()
TRIAL.report()
