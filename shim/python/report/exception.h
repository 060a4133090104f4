#pragma once
// An uncaught exception as testimony: its class, message, traceback text and the line of the
// program. Only the message runs code of the program (its `__str__`). Works in static buffers, for
// memory may be exhausted. Runs in the job's process, once.

#include <string_view>

#include "shim/python/ref.h"
#include "shim/python/text.h"
#include "shim/python/values/encode.h"

namespace shim {

inline constexpr size_t kMaxMessage = size_t{8} << 10;
inline constexpr size_t kMaxTraceback = size_t{32} << 10;

// The exception that is set, normalised and with its traceback; the error indicator is clear after.
Ref take_exception();

struct Testimony {
  std::string_view type;
  std::string_view message;
  std::string_view traceback;
  long long line = -1;
  uint8_t flags = 0;
};

enum class Stage : uint8_t { kCompile, kRun };

// The views are of static storage.
Testimony describe(PyObject* exception, Stage stage, std::string_view source);

// As a payload of kException; texts are cut where `capacity` is small. Returns its size.
size_t write_testimony(const Testimony& testimony, char* payload, size_t capacity);

// traceback.cc: what CPython prints for it, without the caret lines.
void format_exception(BoundedText& text, PyObject* exception, std::string_view source);
// str(exception), or "<unprintable>".
void add_message(BoundedText& text, PyObject* exception, Py_ssize_t characters);

// One frame of a traceback.
struct Frame {
  Ref code;
  long line = -1;
  long instruction = -1;
  bool of_program = false;
};
Frame frame_of(PyObject* traceback);
Ref next_of(PyObject* traceback);  // empty at the end

// A field behind a kept getter, as a number; `otherwise` where it is none. Never raises.
long number_field(PyObject* getter, PyObject* object, long otherwise);
// A field behind a kept getter; empty where there is none. Never raises.
Ref field(PyObject* getter, PyObject* object);

}  // namespace shim
