#include "shim/python/setup.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include "shim/files.h"
#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

struct sigaction interrupt_action;
// More than one arena of the object allocator, so that a new one can be had.
constexpr size_t kReserve = size_t{3} << 20;
void* reserve = MAP_FAILED;

// A job is the second process of its namespace of pids.
constexpr pid_t kUsualThreadId = 2;
constexpr const char* kUsualDirectory = "/tmp";

bool set_thread_id(pid_t thread) {
  Ref id = Ref::steal(PyLong_FromLong(thread));
  return id && PyObject_SetAttr(refs().main_thread, refs().native_id, id.get()) == 0;
}

bool set_signal_handler() {
  // A template started with SIGINT ignored has no handler; its jobs have one all the same.
  Ref signal = Ref::steal(PyImport_ImportModule("signal"));
  Ref handler = signal ? attribute(signal.get(), "default_int_handler") : Ref();
  if (!handler) return false;
  return static_cast<bool>(
      Ref::steal(PyObject_CallMethod(signal.get(), "signal", "iO", SIGINT, handler.get())));
}

bool set_environment(const Items& environment) {
  Reader from(environment.bytes);
  for (uint32_t i = 0; i < environment.count; ++i) {
    Ref name = decode_text(from.text(Tag::kStr));
    Ref value = decode_text(from.text(Tag::kStr));
    if (!name || !value || PyObject_SetItem(refs().environ, name.get(), value.get()) < 0) {
      return false;
    }
  }
  return true;
}

// As an interpreter does at its start: a value that is not empty counts.
bool heed_environment(const Items& environment) {
  Reader from(environment.bytes);
  bool unbuffered = false;
  for (uint32_t i = 0; i < environment.count; ++i) {
    const std::string_view name = from.text(Tag::kStr), value = from.text(Tag::kStr);
    if (name == "PYTHONUNBUFFERED") unbuffered = !value.empty();
  }
  return !unbuffered || take_buffers_away();
}

// In memory that every node keeps: the directory that the steps before this one had.
char usual_home[PATH_MAX];

bool set_home(const char* home) {
  if (!home) return true;
  std::strncpy(usual_home, home, sizeof usual_home - 1);
  Ref path = Ref::steal(PyUnicode_DecodeFSDefault(home));
  for (const char* name : {"HOME", "TMPDIR"}) {
    Ref key = Ref::steal(PyUnicode_FromString(name));
    if (!path || !key || PyObject_SetItem(refs().environ, key.get(), path.get()) < 0) return false;
  }
  return true;
}

// sys.argv as the template has it.
bool is_usual(const Items& argv) {
  Reader from(argv.bytes);
  return argv.count == 1 && from.text(Tag::kStr) == "main.py";
}

bool set_argv(const Items& argv) {
  if (is_usual(argv)) return true;
  Ref list = Ref::steal(PyList_New(0));
  Reader from(argv.bytes);
  for (uint32_t i = 0; list && i < argv.count; ++i) {
    Ref argument = decode_text(from.text(Tag::kStr));
    if (!argument || PyList_Append(list.get(), argument.get()) < 0) return false;
  }
  return list && PySys_SetObject("argv", list.get()) == 0;
}

// The working directory takes the place of the usual one, which is first.
bool set_path() {
  char directory[PATH_MAX];
  PyObject* path = PySys_GetObject("path");
  if (!path || !PyList_Check(path) || !getcwd(directory, sizeof directory)) return true;
  if (std::strcmp(directory, kUsualDirectory) == 0) return true;
  PyObject* entry = PyUnicode_DecodeFSDefault(directory);
  return entry && PyList_SetItem(path, 0, entry) == 0;
}

// False: an exception is set.
bool replace_in(PyObject* container, PyObject* key, PyObject* old_home, PyObject* home) {
  Ref value = Ref::steal(PyObject_GetItem(container, key));
  if (!value) return PyErr_Clear(), true;
  const int is_old = PyObject_RichCompareBool(value.get(), old_home, Py_EQ);
  return is_old == 0 || (is_old > 0 && PyObject_SetItem(container, key, home) == 0);
}

// The scratch is another directory in each cell where nothing can be mounted. The program's own
// notes of its path are not known.
bool move_home(const char* home) {
  if (!home || std::strcmp(home, usual_home) == 0) return true;
  Ref old_home = Ref::steal(PyUnicode_DecodeFSDefault(usual_home));
  Ref path = Ref::steal(PyUnicode_DecodeFSDefault(home));
  Ref first = Ref::steal(PyLong_FromLong(0));
  if (!old_home || !path || !first) return false;
  for (const char* name : {"HOME", "TMPDIR"}) {
    Ref key = Ref::steal(PyUnicode_FromString(name));
    if (!key || !replace_in(refs().environ, key.get(), old_home.get(), path.get())) return false;
  }
  PyObject* paths = PySys_GetObject("path");
  if (paths && !replace_in(paths, first.get(), old_home.get(), path.get())) return false;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* tempfile = PyDict_GetItemString(modules, "tempfile");
  PyObject* names = tempfile ? PyModule_GetDict(tempfile) : nullptr;
  Ref chosen = Ref::steal(PyUnicode_FromString("tempdir"));
  if (!chosen) return false;
  if (names && !replace_in(names, chosen.get(), old_home.get(), path.get())) return false;
  std::strncpy(usual_home, home, sizeof usual_home - 1);
  return true;
}

}  // namespace

bool keep_signals() {
  if (!set_signal_handler()) return false;
  return sigaction(SIGINT, nullptr, &interrupt_action) == 0;
}

bool keep_reserve() {
  reserve = mmap(nullptr, kReserve, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserve != MAP_FAILED) return true;
  PyErr_NoMemory();
  return false;
}

void release_reserve() {
  if (reserve == MAP_FAILED) return;
  munmap(reserve, kReserve);
  reserve = MAP_FAILED;
}

void restore_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigaction(SIGINT, &interrupt_action, nullptr);
}

bool keep_path() {
  PyObject* path = PySys_GetObject("path");
  Ref usual = Ref::steal(PyUnicode_FromString(kUsualDirectory));
  return path && usual && PyList_Check(path) && PyList_Insert(path, 0, usual.get()) == 0;
}

bool keep_thread_id() { return set_thread_id(kUsualThreadId); }

bool refresh_thread() {
  const pid_t id = gettid();
  return id == kUsualThreadId || set_thread_id(id);
}

bool place_files(const Items& files) {
  std::string failed;
  const int error = write_files(files, failed);
  if (error == 0) return true;
  if (error == EINVAL) {
    PyErr_Format(PyExc_ValueError, "not a relative path: %.200s", failed.c_str());
  } else {
    errno = error;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, failed.c_str());
  }
  return false;
}

bool take_up_surroundings(const Request& request, const char* home) {
  if (reserve == MAP_FAILED && !keep_reserve()) return false;
  return begin_input_anew() && move_home(home) && set_environment(request.environment) &&
         set_argv(request.argv);
}

bool set_surroundings(const Request& request, const char* home) {
  return set_home(home) && set_environment(request.environment) &&
         heed_environment(request.environment) && set_argv(request.argv) && set_path();
}

}  // namespace shim
