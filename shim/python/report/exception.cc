#include "shim/python/report/exception.h"

#include <algorithm>
#include <cerrno>

#include "shim/python/interpreter_refs.h"

namespace shim {
namespace {

char type_buffer[512];
char message_buffer[kMaxMessage];
char traceback_buffer[kMaxTraceback];

struct Place {
  long program_line = -1;         // innermost frame of the program
  bool raised_in_python = false;  // the last frame stands at a `raise`, not at a call of C code
};

bool is_raise(const Frame& frame) {
  Ref bytes = frame.code ? attribute(frame.code.get(), "co_code") : Ref();
  char* code = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &code, &size) < 0) return PyErr_Clear(), false;
  if (frame.instruction < 0 || frame.instruction >= size) return false;
  const long opcode = static_cast<unsigned char>(code[frame.instruction]);
  return opcode == refs().raise_opcodes[0] || opcode == refs().raise_opcodes[1];
}

Place place_of(PyObject* exception) {
  Place place;
  Frame last;
  for (Ref at = Ref::steal(PyException_GetTraceback(exception)); at; at = next_of(at.get())) {
    last = frame_of(at.get());
    if (last.of_program) place.program_line = last.line;
  }
  place.raised_in_python = is_raise(last);
  return place;
}

bool is_no_thread(PyObject* exception, std::string_view message) {
  return reinterpret_cast<PyObject*>(Py_TYPE(exception)) == PyExc_RuntimeError &&
         message == "can't start new thread";
}

long errno_of(PyObject* exception) {
  if (!PyErr_GivenExceptionMatches(exception, PyExc_OSError)) return 0;
  return number_field(refs().os_errno, exception, 0);
}

// Knows what libraries of C++ raise for a refused allocation, where it is no MemoryError.
bool is_no_memory_of_a_library(const Testimony& said) {
  struct Saying {
    std::string_view type, words;
  };
  constexpr Saying kSayings[] = {
      {"RuntimeError", "DefaultCPUAllocator: can't allocate memory"},  // torch, c10/core/alloc_cpu
      {"error", "(-4:Insufficient memory)"},                           // cv2.error, StsNoMem
  };
  return std::any_of(std::begin(kSayings), std::end(kSayings), [&](const Saying& saying) {
    return said.type == saying.type && said.message.find(saying.words) != std::string_view::npos;
  });
}

// A mapping that is refused (mmap) is no MemoryError of Python's.
bool is_no_memory(PyObject* exception, const Testimony& said) {
  return PyErr_GivenExceptionMatches(exception, PyExc_MemoryError) ||
         errno_of(exception) == ENOMEM || is_no_memory_of_a_library(said);
}

bool is_no_space(PyObject* exception) {
  const long code = errno_of(exception);
  return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

uint8_t flags_of(PyObject* exception, const Testimony& said) {
  if (is_no_memory(exception, said)) return kMemoryErrorByInterpreter;
  if (is_no_space(exception)) return kNoSpaceByInterpreter;
  if (is_no_thread(exception, said.message)) return kNoThreadByInterpreter;
  return 0;
}

}  // namespace

Ref take_exception() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  PyErr_Clear();
  return Ref::steal(value);
}

Ref field(PyObject* getter, PyObject* object) {
  Ref found = getter ? call(getter, object) : Ref();
  if (!found) PyErr_Clear();
  return found.get() == Py_None ? Ref() : std::move(found);
}

long number_field(PyObject* getter, PyObject* object, long otherwise) {
  Ref found = field(getter, object);
  if (!found || !PyLong_Check(found.get())) return otherwise;
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(found.get(), &overflow);
  return overflow == 0 ? number : otherwise;
}

Testimony describe(PyObject* exception, Stage stage, std::string_view source) {
  BoundedText type(type_buffer);
  BoundedText message(message_buffer);
  BoundedText traceback(traceback_buffer);
  type.add_type_name(Py_TYPE(exception));
  add_message(message, exception, kMaxMessage);
  format_exception(traceback, exception, source);

  Testimony testimony{type.view(), message.view(), traceback.view()};
  const Place place = place_of(exception);
  testimony.line = place.program_line;
  if (stage == Stage::kCompile) {
    testimony.flags = kCouldNotStart;
    // A full scratch while the job's files are placed is the interpreter's finding too; a
    // MemoryError of the compiler is a nesting too deep for its stack.
    if (is_no_space(exception)) testimony.flags |= kNoSpaceByInterpreter;
    if (PyErr_GivenExceptionMatches(exception, PyExc_SyntaxError)) {
      testimony.line = number_field(refs().syntax_lineno, exception, -1);
    }
  } else if (!place.raised_in_python) {
    testimony.flags = flags_of(exception, testimony);
  }
  return testimony;
}

size_t write_testimony(const Testimony& testimony, char* payload, size_t capacity) {
  constexpr size_t kFrame = 64;  // tags, counts and numbers
  size_t room = capacity > kFrame ? capacity - kFrame : 0;
  auto cut = [&room](std::string_view text) {
    if (text.size() > room) {
      size_t end = room;
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
      text = text.substr(0, end);
    }
    room -= text.size();
    return text;
  };
  Encoder payload_encoder(payload, capacity);
  payload_encoder.open(Tag::kList, 5);
  payload_encoder.text(cut(testimony.type));
  payload_encoder.text(cut(testimony.message));
  payload_encoder.text(cut(testimony.traceback));
  payload_encoder.integer(testimony.line);
  payload_encoder.small(testimony.flags);
  return payload_encoder.complete() ? payload_encoder.size() : 0;
}

}  // namespace shim
