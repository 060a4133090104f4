// The limit that tools/bench measures against: fork, job, wait, and nothing else. No isolation, no
// limits, no verdict. A CPython extension, loaded by limit_worker.py into a warm interpreter that
// has had no treatment at all:
//   fork_bench(n, code) -> list of n floats, microseconds from before the fork to the reaped child
// The fork is a raw clone(2): neither Python's at-fork hooks nor the C library's run. The child
// evaluates the code object, writes str(result) into a pipe and leaves by exit_group(2); the
// interpreter is never finalized.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kReplyBytes = 64 };

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

// Child only. Leaks on purpose: the process is about to end. A job that fails still writes, since
// the parent, which keeps the writing end for the next child, would wait for ever.
static int run_job(PyObject* code, int reply) {
  PyObject* globals = PyDict_New();
  PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
  PyObject* ended = PyEval_EvalCode(code, globals, globals);
  PyObject* result = ended ? PyDict_GetItemString(globals, "result") : NULL;
  PyObject* text = result ? PyObject_Str(result) : NULL;
  Py_ssize_t length = 0;
  const char* bytes = text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  if (!bytes || length <= 0) {
    if (PyErr_Occurred()) PyErr_Print();
    return write(reply, "!", 1) == 1 ? 1 : 2;
  }
  if (length > kReplyBytes) length = kReplyBytes;
  return write(reply, bytes, (size_t)length) == length ? 0 : 2;
}

// Returns the microseconds taken, or -1 with an exception set.
static double one_fork(PyObject* code, const int ends[2]) {
  const double start = now_us();
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) syscall(SYS_exit_group, run_job(code, ends[1]));
  if (child < 0) {
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
  }

  char reply[kReplyBytes];
  int status = 0;
  const ssize_t got = read(ends[0], reply, sizeof reply);
  const long reaped = syscall(SYS_wait4, child, &status, 0, 0);
  const double end = now_us();
  if (got <= 0 || reaped != child || status != 0) {
    PyErr_Format(PyExc_RuntimeError, "the job in the fork failed, wait status %d", status);
    return -1;
  }
  return end - start;
}

static PyObject* list_of(const double* times, int n) {
  PyObject* list = PyList_New(n);
  for (int i = 0; list && i < n; i++) {
    PyObject* time = PyFloat_FromDouble(times[i]);
    if (!time) Py_CLEAR(list);
    if (time) PyList_SET_ITEM(list, i, time);
  }
  return list;
}

static PyObject* fork_bench(PyObject* self, PyObject* args) {
  (void)self;
  int n = 0;
  PyObject* code = NULL;
  if (!PyArg_ParseTuple(args, "iO!", &n, &PyCode_Type, &code)) return NULL;
  if (n <= 0) return PyErr_Format(PyExc_ValueError, "n is %d", n);

  // Shared memory, so that noting the times neither dirties the heap between forks nor is copied.
  const size_t bytes = (size_t)n * sizeof(double);
  double* times = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (times == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    munmap(times, bytes);
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  int done = 0;
  while (done < n && (times[done] = one_fork(code, ends)) >= 0) done++;
  PyObject* list = done == n ? list_of(times, n) : NULL;
  close(ends[0]);
  close(ends[1]);
  munmap(times, bytes);
  return list;
}

static PyMethodDef methods[] = {
    {"fork_bench", fork_bench, METH_VARARGS, "fork_bench(n, code) -> [microseconds, ...]"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "zygo_limit",
    .m_size = -1,
    .m_methods = methods,
};
PyMODINIT_FUNC PyInit_zygo_limit(void) { return PyModule_Create(&module); }
