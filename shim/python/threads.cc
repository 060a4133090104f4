#include "shim/python/threads.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

// Threads that an executor keeps for later work (concurrent.futures.thread) end when it tells them.
bool is_of_executor(PyObject* thread) {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "concurrent.futures.thread");
  Ref queues = module ? attribute(module, "_threads_queues") : Ref();
  const bool is_in = queues && PySequence_Contains(queues.get(), thread) == 1;
  PyErr_Clear();
  return is_in;
}

// True: it was one that a program's end waits for.
bool join(PyObject* thread) {
  Ref is_daemon = attribute(thread, "daemon");
  const bool waits = is_daemon && PyObject_IsTrue(is_daemon.get()) == 0 &&
                     thread != refs().main_thread && !is_of_executor(thread);
  if (waits) Ref::steal(PyObject_CallMethod(thread, "join", nullptr));
  PyErr_Clear();
  return waits;
}

void join_all(PyObject* threading) {
  for (bool has_waited = threads_need_joining(); has_waited;) {
    has_waited = false;
    Ref threads = Ref::steal(PyObject_CallMethod(threading, "enumerate", nullptr));
    PyErr_Clear();
    if (!threads || !PyList_Check(threads.get())) return;
    for (Py_ssize_t i = 0; i < PyList_Size(threads.get()); ++i)
      has_waited = join(PyList_GetItem(threads.get(), i)) || has_waited;
  }
}

// Nothing tells of the end of a thread that is detached, so the kernel is asked again, and again.
// The interpreter is left to others meanwhile, as what a thread keeps for itself is freed when it
// counts as ended already. Pauses count as long as they were meant to be: on a machine that has no
// time for us, it has none for that thread either.
class Patience {
 public:
  explicit Patience(long milliseconds) : left_(milliseconds * 1'000'000) {}
  // False: it is over.
  bool wait() {
    if (left_ <= 0) return false;
    left_ -= pause_.tv_nsec;
    PyThreadState* own = PyEval_SaveThread();
    ::nanosleep(&pause_, nullptr);
    PyEval_RestoreThread(own);
    if (pause_.tv_nsec < kLongest) pause_.tv_nsec *= 2;
    return true;
  }

 private:
  static constexpr long kLongest = 2'000'000;
  long left_;  // nanoseconds
  timespec pause_{0, 20'000};
};

// The kernel refuses this call to a process that has another thread, and else does nothing
// (unshare(2)). False: it may not be asked, as by Docker's own filter.
bool wait_until_alone(Patience& patience) {
  int error = 0;
  do {
    error = ::unshare(CLONE_THREAD) < 0 ? errno : 0;
  } while (error == EINVAL && patience.wait());
  return error == 0 || error == EINVAL;
}

// 0: it runs, or never did.
long id_of_ended(PyObject* thread) {
  Ref is_alive = Ref::steal(PyObject_CallMethod(thread, "is_alive", nullptr));
  const bool has_ended = is_alive && PyObject_IsTrue(is_alive.get()) == 0;
  Ref id = has_ended ? attribute(thread, "native_id") : Ref();
  const long number = id && PyLong_Check(id.get()) ? PyLong_AsLong(id.get()) : 0;
  PyErr_Clear();
  return number;
}

// tgkill(2) finds a thread until the kernel has taken it off its process. Another, which goes on,
// may have got the number.
void wait_until_gone(long thread, Patience& patience) {
  while (::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 && patience.wait()) continue;
}

// Those whose objects somebody still has; null: of none but the main thread.
Ref known_threads(PyObject* threading) {
  Ref known = attribute(threading, "_dangling");
  Ref references = known ? attribute(known.get(), "data") : Ref();
  const bool has_others = references && PyObject_Size(references.get()) > 1;
  Ref threads = has_others ? Ref::steal(PySequence_List(known.get())) : Ref();
  PyErr_Clear();
  return threads;
}

void wait_for_known(PyObject* threading, Patience& patience) {
  Ref threads = known_threads(threading);
  if (!threads) return;
  for (Py_ssize_t i = 0; i < PyList_Size(threads.get()); ++i) {
    PyObject* thread = PyList_GetItem(threads.get(), i);
    const long id = thread == refs().main_thread ? 0 : id_of_ended(thread);
    if (id > 0) wait_until_gone(id, patience);
  }
}

// Each thread that Python starts, or that calls it, has a state, whose number is one more than that
// of the state before.
uint64_t next_number() {
  PyThreadState* state = PyThreadState_New(PyInterpreterState_Get());
  if (!state) return 0;
  const uint64_t number = PyThreadState_GetID(state);
  PyThreadState_Clear(state);
  PyThreadState_Delete(state);
  return number;
}

uint64_t number_at_start = 0;

long count_running() {
  Ref running = call(refs().count_threads);
  const long count = running ? PyLong_AsLong(running.get()) : -1;
  PyErr_Clear();
  return count;
}

}  // namespace

bool has_grown(PyObject* list, Py_ssize_t length) {
  return list && PyList_Check(list) && PyList_Size(list) != length;
}

bool threads_need_joining() {
  const InterpreterRefs& k = refs();
  return count_running() != 0 || has_grown(k.threading_callbacks, k.threading_callback_count);
}

void follow_threads() { number_at_start = next_number(); }

void end_threads() {
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  Ref held = Ref::share(threading);
  if (held) join_all(threading);
  // Other libraries' threads go on: they are not waited for where there is no other.
  if (next_number() == number_at_start + 1) return;
  Patience until_they_count_as_ended(200), until_they_have(1000);
  while (count_running() > 0 && until_they_count_as_ended.wait()) continue;
  if (count_running() > 0) return;
  if (!wait_until_alone(until_they_have) && held) wait_for_known(threading, until_they_have);
}

}  // namespace shim
