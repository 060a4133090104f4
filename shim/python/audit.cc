#include "shim/python/audit.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "shim/python/interpreter_refs.h"
#include "shim/python/steps/sqlite_files.h"

namespace shim {
namespace {

AnswerRegion* noted_region = nullptr;
bool wrote_files = false;

// Events of `os` that change nothing outside the process.
constexpr std::string_view kHarmless[] = {
    "os.fwalk",  "os.getxattr", "os.listdir",  "os.listxattr",
    "os.putenv", "os.scandir",  "os.unsetenv", "os.walk",
};
constexpr std::string_view kSensitive[] = {
    "ctypes.", "fcntl.",  "mmap.",   "pty.",        "resource.",
    "shutil.", "signal.", "socket.", "subprocess.", "syslog.",
};

bool opens_for_writing(PyObject* arguments) {
  PyObject* flags = arguments && PyTuple_Check(arguments) && PyTuple_Size(arguments) > 2
                        ? PyTuple_GetItem(arguments, 2)
                        : nullptr;
  if (!flags || !PyLong_CheckExact(flags)) return false;
  int overflow = 0;
  const long long bits = PyLong_AsLongLongAndOverflow(flags, &overflow);
  return overflow == 0 && (bits & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)) != 0;
}

// Most events are none of ours ("import", "exec", "builtins.id", ...) and leave at the first
// letter.
bool is_sensitive(std::string_view event, PyObject* arguments) {
  switch (event.empty() ? '\0' : event[0]) {
    case 'o':
      if (event == "open") {
        const bool writes = opens_for_writing(arguments);
        wrote_files = wrote_files || writes;
        return writes;
      }
      return event.starts_with("os.") &&
             std::find(std::begin(kHarmless), std::end(kHarmless), event) == std::end(kHarmless);
    case 'c':
    case 'f':
    case 'm':
    case 'p':
    case 'r':
    case 's':
      return std::any_of(std::begin(kSensitive), std::end(kSensitive),
                         [&](std::string_view start) { return event.starts_with(start); });
    default:
      return false;
  }
}

bool belongs_to_program(PyObject* frame) {
  Ref code = Ref::steal(
      reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame))));
  Ref file = code ? attribute(code.get(), "co_filename") : Ref();
  return file.get() == refs().file_name;
}

// The line of the innermost frame of the program.
int program_line() {
  constexpr int kMaxFrames = 100;
  Ref frame = Ref::share(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (int i = 0; i < kMaxFrames && frame && frame.get() != Py_None; ++i) {
    if (belongs_to_program(frame.get())) {
      return PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.get()));
    }
    frame = attribute(frame.get(), "f_back");
  }
  return -1;
}

int on_event(const char* event, PyObject* arguments, void* /*data*/) {
  if (!noted_region) return 0;
  if (std::strcmp(event, "sqlite3.connect") == 0) follow_files_of_sqlite();
  if (!is_sensitive(event, arguments)) return 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  AuditNote& note = noted_region->note;
  note.line = program_line();
  std::strncpy(note.event, event, sizeof note.event - 1);
  note.event[sizeof note.event - 1] = '\0';
  std::atomic_ref<uint64_t>(note.count).fetch_add(1, std::memory_order_release);
  PyErr_Restore(type, value, traceback);
  return 0;
}

}  // namespace

bool add_audit_hook() { return PySys_AddAuditHook(on_event, nullptr) == 0; }

void start_audit(AnswerRegion* region, bool goes_on) {
  wrote_files = wrote_files && goes_on;
  noted_region = region;
}

void stop_audit() { noted_region = nullptr; }

bool opened_for_writing() { return wrote_files; }

}  // namespace shim
