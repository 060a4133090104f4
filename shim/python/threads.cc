#include "shim/python/threads.h"

#include <sys/syscall.h>
#include <unistd.h>

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

// 0: it runs, or never did.
long id_of_ended(PyObject* thread) {
  Ref is_alive = Ref::steal(PyObject_CallMethod(thread, "is_alive", nullptr));
  const bool has_ended = is_alive && PyObject_IsTrue(is_alive.get()) == 0;
  Ref id = has_ended ? attribute(thread, "native_id") : Ref();
  const long number = id && PyLong_Check(id.get()) ? PyLong_AsLong(id.get()) : 0;
  PyErr_Clear();
  return number;
}

// tgkill(2) finds a thread until the kernel has taken it off its process.
bool kernel_has(long thread) { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0; }

// Nothing tells of the end of a thread that is detached, so the kernel is asked again. The end
// bounds it where another thread, which goes on, has got the number.
void wait_until_gone(long thread, const timespec& end) {
  constexpr timespec kShortly{0, 20'000};
  timespec now{};
  while (kernel_has(thread)) {
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec)) return;
    ::nanosleep(&kShortly, nullptr);
  }
}

void wait_for_ended(PyObject* threading) {
  Ref known = attribute(threading, "_dangling");  // all of which somebody still has the object
  Ref references = known ? attribute(known.get(), "data") : Ref();
  const bool has_others = references && PyObject_Size(references.get()) > 1;
  Ref threads = has_others ? Ref::steal(PySequence_List(known.get())) : Ref();
  PyErr_Clear();
  if (!threads) return;
  timespec end{};
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 1;
  for (Py_ssize_t i = 0; i < PyList_Size(threads.get()); ++i) {
    PyObject* thread = PyList_GetItem(threads.get(), i);
    const long id = thread == refs().main_thread ? 0 : id_of_ended(thread);
    if (id > 0) wait_until_gone(id, end);
  }
}

}  // namespace

bool has_grown(PyObject* list, Py_ssize_t length) {
  return list && PyList_Check(list) && PyList_Size(list) != length;
}

bool threads_need_joining() {
  const InterpreterRefs& k = refs();
  Ref running = call(k.count_threads);
  const long count = running ? PyLong_AsLong(running.get()) : -1;
  PyErr_Clear();
  return count != 0 || has_grown(k.threading_callbacks, k.threading_callback_count);
}

void end_threads() {
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  if (!threading) return;
  Ref held = Ref::share(threading);
  join_all(threading);
  wait_for_ended(threading);
}

}  // namespace shim
