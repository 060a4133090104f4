// sys.stdin, sys.stdout and sys.stderr, made in the template for descriptors that only the job will
// have; a job that wants no buffers gets others. A stream asks its descriptor at birth whether it
// can seek and how it is buffered, so while they are made descriptors 0 to 2 are pipes, as they are
// in a job.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

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

// The fields of an object, and not what they refer to, as they were once.
class Fields {
 public:
  void note(PyObject* object) {
    Ref size = attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__basicsize__");
    object_ = object;
    size_ = size ? PyLong_AsSize_t(size.get()) : 0;
    PyErr_Clear();
    if (size_ > sizeof bytes_) return forget();
    std::memcpy(bytes_, object, size_);
  }
  void forget() { size_ = 0; }
  bool are_as_noted() const {
    const char* now = reinterpret_cast<const char*>(object_);
    return size_ > kCount && std::memcmp(bytes_ + kCount, now + kCount, size_ - kCount) == 0;
  }

 private:
  static constexpr size_t kCount = sizeof(Py_ssize_t);  // of references, which is no state of it
  PyObject* object_ = nullptr;
  size_t size_ = 0;  // 0: nothing is noted
  char bytes_[512];
};

// The first is of sys.stdin, then of its buffer and that one's file: each keeps the next alive. In
// memory that every node keeps.
Fields input_at_begin[3];

// A step that is given nothing to read has the same file as all such steps.
bool has_no_input() {
  constexpr unsigned kMemory = 1, kNull = 3;  // Documentation/admin-guide/devices.txt
  struct stat status {};
  return ::fstat(kStreams[0].fd, &status) == 0 && S_ISCHR(status.st_mode) &&
         status.st_rdev == makedev(kMemory, kNull);
}

bool is_input_untouched() {
  return std::all_of(std::begin(input_at_begin), std::end(input_at_begin),
                     [](const Fields& each) { return each.are_as_noted(); });
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

// In place, as a program may have it under any name. To make it anew writes to 38 pages, each of
// which the step's node has to keep.
bool begin_input_anew() {
  const Stream& stream = kStreams[0];
  const bool is_empty = has_no_input();
  if (is_empty && is_input_untouched()) return true;
  for (Fields& each : input_at_begin) each.forget();
  Ref buffer = attribute(refs().in, "buffer");
  Ref raw = buffer ? attribute(buffer.get(), "raw") : Ref();
  PyErr_Clear();
  if (!raw) return true;  // it has taken the stream apart
  Ref shown = Ref::steal(PyUnicode_FromString(stream.shown));
  const bool is_done =
      shown &&
      Ref::steal(PyObject_CallMethod(raw.get(), "__init__", "isO", stream.fd, "rb", Py_False)) &&
      PyObject_SetAttrString(raw.get(), "name", shown.get()) == 0 &&
      Ref::steal(PyObject_CallMethod(buffer.get(), "__init__", "O", raw.get())) &&
      Ref::steal(PyObject_CallMethod(refs().in, "__init__", "Osss", buffer.get(), "utf-8",
                                     stream.errors, "\n"));
  if (!is_done || !is_empty) return is_done;
  PyObject* const parts[] = {refs().in, buffer.get(), raw.get()};
  for (size_t i = 0; i < std::size(parts); ++i) input_at_begin[i].note(parts[i]);
  return true;
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
