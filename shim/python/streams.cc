// sys.stdin, sys.stdout and sys.stderr, made in the template for descriptors that only the job will
// have; a job that wants no buffers gets others. A stream asks its descriptor at birth whether it
// can seek and how it is buffered, so while they are made descriptors 0 to 2 are pipes, as they are
// in a job.

#include <fcntl.h>
#include <unistd.h>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

struct Stream {
  int fd;
  const char* name;   // in sys
  const char* shown;  // its .name
  const char* mode;   // "r" or "w"
  const char* errors;
  bool lines;  // line buffered
};

constexpr Stream kStreams[] = {
    {0, "stdin", "<stdin>", "r", "strict", false},
    {1, "stdout", "<stdout>", "w", "strict", false},
    {2, "stderr", "<stderr>", "w", "backslashreplace", true},
};

// Puts pipes in the place of descriptors 0 to 2 for as long as it lives.
class BorrowedDescriptors {
 public:
  bool take() {
    auto pipe = sys::make_pipe();
    if (!pipe.ok()) return false;
    for (int fd = 0; fd < 3; ++fd) {
      saved_[fd] = sys::OwnedFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
      if (dup2(fd == 0 ? pipe->reader.get() : pipe->writer.get(), fd) < 0) return false;
      taken_ = fd + 1;
    }
    return true;
  }
  ~BorrowedDescriptors() {
    for (int fd = 0; fd < taken_; ++fd) {
      if (saved_[fd]) {
        dup2(saved_[fd].get(), fd);
      } else {
        sys::OwnedFd was_closed(fd);
      }
    }
  }

 private:
  sys::OwnedFd saved_[3];
  int taken_ = 0;
};

enum class Buffers { kUsual, kNone };

// The same calls as CPython's create_stdio().
PyObject* make_stream(PyObject* io, const Stream& stream, Buffers buffers) {
  const bool writes = stream.mode[0] == 'w', plain = buffers == Buffers::kNone;
  Ref buffer =
      Ref::steal(PyObject_CallMethod(io, "open", "isiOOOO", stream.fd, writes ? "wb" : "rb",
                                     plain ? 0 : -1, Py_None, Py_None, Py_None, Py_False));
  if (!buffer) return nullptr;
  Ref raw = plain ? Ref::share(buffer.get()) : attribute(buffer.get(), "raw");
  Ref shown = Ref::steal(PyUnicode_FromString(stream.shown));
  if (!raw || !shown || PyObject_SetAttrString(raw.get(), "name", shown.get()) < 0) return nullptr;
  Ref text = Ref::steal(
      PyObject_CallMethod(io, "TextIOWrapper", "OsssOO", buffer.get(), "utf-8", stream.errors, "\n",
                          stream.lines && !plain ? Py_True : Py_False, plain ? Py_True : Py_False));
  Ref mode = Ref::steal(PyUnicode_FromString(stream.mode));
  if (!text || !mode || PyObject_SetAttrString(text.get(), "mode", mode.get()) < 0) return nullptr;
  return text.release();
}

bool publish(const Stream& stream, PyObject* text) {
  const std::string original = std::string("__") + stream.name + "__";
  return PySys_SetObject(stream.name, text) == 0 && PySys_SetObject(original.c_str(), text) == 0;
}

void flush_old(const char* name) {
  PyObject* old = PySys_GetObject(name);
  if (old && old != Py_None) Ref::steal(PyObject_CallMethod(old, "flush", nullptr));
  PyErr_Clear();
}

}  // namespace

bool make_streams(InterpreterRefs& refs) {
  flush_old("stdout");
  flush_old("stderr");
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  if (!io) return false;
  PyObject** const slots[] = {&refs.in, &refs.out, &refs.err};
  BorrowedDescriptors pipes;
  if (!pipes.take()) {
    PyErr_SetFromErrno(PyExc_OSError);
    return false;
  }
  for (const Stream& stream : kStreams) {
    PyObject* text = make_stream(io.get(), stream, Buffers::kUsual);
    if (!text) return false;
    *slots[stream.fd] = text;
    if (!publish(stream, text)) return false;
  }
  return true;
}

// In place, as a program may have it under any name.
bool begin_input_anew() {
  const Stream& stream = kStreams[0];
  Ref buffer = attribute(refs().in, "buffer");
  Ref raw = buffer ? attribute(buffer.get(), "raw") : Ref();
  PyErr_Clear();
  if (!raw) return true;  // it has taken the stream apart
  Ref shown = Ref::steal(PyUnicode_FromString(stream.shown));
  return shown &&
         Ref::steal(PyObject_CallMethod(raw.get(), "__init__", "isO", stream.fd, "rb", Py_False)) &&
         PyObject_SetAttrString(raw.get(), "name", shown.get()) == 0 &&
         Ref::steal(PyObject_CallMethod(buffer.get(), "__init__", "O", raw.get())) &&
         Ref::steal(PyObject_CallMethod(refs().in, "__init__", "Osss", buffer.get(), "utf-8",
                                        stream.errors, "\n"));
}

bool take_buffers_away() {
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  if (!io) return false;
  for (const Stream& stream : kStreams) {
    if (stream.mode[0] != 'w') continue;
    Ref text = Ref::steal(make_stream(io.get(), stream, Buffers::kNone));
    if (!text || !publish(stream, text.get())) return false;
  }
  return true;
}

}  // namespace shim
