// Exceptions as CPython prints them, from traceback, frame and code objects by the C API: no module
// of the library is asked, no file is read. Lines of the program come from the request's source;
// frames of libraries show their place only.

#include <algorithm>
#include <cstring>

#include "shim/python/interpreter_refs.h"
#include "shim/python/report/exception.h"

namespace shim {
namespace {

constexpr int kMaxChain = 6;   // exceptions in a chain of causes and contexts
constexpr int kMaxGroup = 10;  // members shown of an exception group
constexpr int kMaxGroupDepth = 3;
constexpr size_t kMaxLineBytes = 200;
constexpr Py_ssize_t kShortMessage = 1000;
constexpr Py_ssize_t kLongMessage = 4000;

struct Printer {
  BoundedText& text;
  std::string_view source;
  unsigned indent = 0;  // of a group's members
  bool in_group = false;

  void start_line(std::string_view mark = "| ") {
    text.add_repeated(' ', indent);
    if (in_group) text.add(mark);
  }
};

struct Exposure {
  long edge;           // frames shown at each end of a traceback
  Py_ssize_t message;  // characters
};
constexpr Exposure kFull{20, kLongMessage};
constexpr Exposure kBrief{4, kShortMessage};

std::string_view trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\f\r\n");
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\f\r\n") - start + 1);
}

std::string_view line_of(std::string_view source, long number) {
  for (; number > 1; --number) {
    const size_t end = source.find('\n');
    if (end == source.npos) return {};
    source.remove_prefix(end + 1);
  }
  return number == 1 ? source.substr(0, source.find('\n')) : std::string_view{};
}

void add_source_line(Printer& printer, std::string_view line) {
  if (line.empty()) return;
  char cut[kMaxLineBytes];
  BoundedText bounded(cut);
  bounded.add(line);
  printer.start_line();
  printer.text.add("    ");
  printer.text.add(bounded.view());
  printer.text.add("\n");
}

void add_frame(Printer& printer, const Frame& frame) {
  printer.start_line();
  printer.text.add("  File \"");
  Ref file = frame.code ? attribute(frame.code.get(), "co_filename") : Ref();
  Ref name = frame.code ? attribute(frame.code.get(), "co_name") : Ref();
  printer.text.add_object(file.get(), kMaxLineBytes);
  printer.text.add("\", line ");
  printer.text.add_number(frame.line);
  printer.text.add(", in ");
  printer.text.add_object(name.get(), kMaxNameCharacters);
  printer.text.add("\n");
  if (frame.of_program) add_source_line(printer, trimmed(line_of(printer.source, frame.line)));
}

// Calls `row(frame, repeats)` per frame, equal neighbours beyond the third as one row with a count.
template <typename Row>
void for_each_row(PyObject* traceback, Row row) {
  Frame last;
  long same = 0;
  for (Ref at = Ref::share(traceback); at; at = next_of(at.get())) {
    Frame frame = frame_of(at.get());
    const bool repeats = frame.code.get() == last.code.get() && frame.line == last.line;
    if (!repeats) {
      if (same > 3) row(last, same - 3);
      same = 0;
    }
    if (++same <= 3) row(frame, 0L);
    last = std::move(frame);
  }
  if (same > 3) row(last, same - 3);
}

void add_frames(Printer& printer, PyObject* traceback, long edge) {
  long rows = 0;
  for_each_row(traceback, [&rows](const Frame&, long) { ++rows; });
  long index = 0;
  for_each_row(traceback, [&](const Frame& frame, long repeats) {
    const long at = index++;
    if (at >= edge && at < rows - edge) {
      if (at > edge) return;
      printer.start_line();
      printer.text.add("  [");
      printer.text.add_number(rows - 2 * edge);
      printer.text.add(" frames not shown]\n");
    } else if (repeats == 0) {
      add_frame(printer, frame);
    } else {
      printer.start_line();
      printer.text.add("  [Previous line repeated ");
      printer.text.add_number(repeats);
      printer.text.add(repeats == 1 ? " more time]\n" : " more times]\n");
    }
  });
}

// "ValueError", "json.decoder.JSONDecodeError": the module is named unless it is the obvious one.
void add_qualified_name(BoundedText& text, PyObject* exception) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception));
  char buffer[256];
  BoundedText module(buffer);
  Ref module_name = field(refs().type_module, type);
  module.add_object(module_name.get(), kMaxNameCharacters);
  const std::string_view obvious[] = {"", "builtins", "__main__", "program"};
  if (std::find(std::begin(obvious), std::end(obvious), module.view()) == std::end(obvious)) {
    text.add(module.view());
    text.add(".");
  }
  Ref name = field(refs().type_qualname, type);
  text.add_object(name.get(), kMaxNameCharacters);
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(),
                                           [](unsigned char c) { return (c & 0xC0U) != 0x80U; }));
}

void add_carets(Printer& printer, PyObject* error, std::string_view line, size_t stripped) {
  const long offset = number_field(refs().syntax_offset, error, -1);
  long end = number_field(refs().syntax_end_offset, error, -1);
  const long last_line = number_field(refs().syntax_end_lineno, error, -1);
  if (last_line != number_field(refs().syntax_lineno, error, -1)) end = -1;
  const long column = offset - 1 - static_cast<long>(stripped);
  if (offset < 1 || column < 0) return;
  const long width = static_cast<long>(characters(line));
  const long from = std::min(column, width);
  const long to = std::min(std::max(end - 1 - static_cast<long>(stripped), from + 1), width + 1);
  printer.start_line();
  printer.text.add("    ");
  printer.text.add_repeated(' ', static_cast<size_t>(from));
  printer.text.add_repeated('^', static_cast<size_t>(std::max(to - from, 1L)));
  printer.text.add("\n");
}

// The lines that a SyntaxError has between its traceback and its message.
void add_syntax_place(Printer& printer, PyObject* error) {
  const long number = number_field(refs().syntax_lineno, error, -1);
  if (number < 0) return;
  Ref file = field(refs().syntax_filename, error);
  printer.start_line();
  printer.text.add("  File \"");
  if (file) printer.text.add_object(file.get(), kMaxLineBytes);
  if (!file) printer.text.add("<string>");
  printer.text.add("\", line ");
  printer.text.add_number(number);
  printer.text.add("\n");

  char buffer[1024];
  BoundedText line(buffer);
  Ref content = field(refs().syntax_text, error);
  line.add_object(content.get(), 500);
  const std::string_view shown = trimmed(line.view());
  if (shown.empty()) return;
  const auto stripped = static_cast<size_t>(shown.data() - line.view().data());
  printer.start_line();
  printer.text.add("    ");
  printer.text.add(shown);
  printer.text.add("\n");
  add_carets(printer, error, shown, stripped);
}

// A message of several lines keeps to the indent of its group.
void add_text_lines(Printer& printer, std::string_view lines) {
  for (;;) {
    const size_t end = lines.find('\n');
    printer.text.add(lines.substr(0, end));
    printer.text.add("\n");
    if (end == lines.npos) return;
    lines.remove_prefix(end + 1);
    if (printer.in_group) printer.start_line();
  }
}

void add_last_lines(Printer& printer, PyObject* exception, Py_ssize_t bound) {
  const bool syntax = PyErr_GivenExceptionMatches(exception, PyExc_SyntaxError) != 0;
  if (syntax) add_syntax_place(printer, exception);
  printer.start_line();
  add_qualified_name(printer.text, exception);
  static char buffer[kLongMessage * 2];
  BoundedText message(buffer, sizeof buffer);
  Ref plain = syntax ? field(refs().syntax_msg, exception) : Ref();
  if (plain) {
    message.add_object(plain.get(), bound);
  } else {
    add_message(message, exception, bound);
  }
  if (!message.view().empty()) printer.text.add(": ");
  add_text_lines(printer, message.view());
}

// Adds the notes of add_note(). It reads lists and strings only: nothing of the program runs.
void add_notes(Printer& printer, PyObject* exception) {
  Ref name = Ref::steal(PyUnicode_FromString("__notes__"));
  Ref notes = name ? Ref::steal(PyObject_GenericGetAttr(exception, name.get())) : Ref();
  PyErr_Clear();
  if (!notes || !PyList_Check(notes.get())) return;
  const Py_ssize_t count = std::min<Py_ssize_t>(PyList_Size(notes.get()), 10);
  for (Py_ssize_t i = 0; i < count; ++i) {
    char buffer[1024];
    BoundedText note(buffer);
    note.add_object(PyList_GetItem(notes.get(), i), 500);
    printer.start_line();
    add_text_lines(printer, note.view());
  }
}

void add_one(Printer& printer, PyObject* exception, const Exposure& exposure);

bool is_group(PyObject* exception) {
  return refs().group_type && PyErr_GivenExceptionMatches(exception, refs().group_type) != 0;
}

void add_members(Printer& printer, PyObject* group, unsigned depth) {
  Ref members = field(refs().group_exceptions, group);
  if (!members || !PyTuple_Check(members.get())) return;
  const Py_ssize_t count = PyTuple_Size(members.get());
  const Py_ssize_t shown = std::min<Py_ssize_t>(count, kMaxGroup);
  for (Py_ssize_t i = 0; i < shown; ++i) {
    printer.text.add_repeated(' ', printer.indent);
    printer.text.add(i == 0 ? "+-+---------------- " : "  +---------------- ");
    printer.text.add_number(i + 1);
    printer.text.add(" ----------------\n");
    Printer inner{printer.text, printer.source, printer.indent + 2, true};
    PyObject* member = PyTuple_GetItem(members.get(), i);
    add_one(inner, member, kBrief);
    if (is_group(member) && depth < kMaxGroupDepth) add_members(inner, member, depth + 1);
  }
  printer.text.add_repeated(' ', printer.indent);
  if (shown < count) {
    printer.text.add("  | and ");
    printer.text.add_number(count - shown);
    printer.text.add(" more exceptions\n");
    printer.text.add_repeated(' ', printer.indent);
  }
  printer.text.add("  +------------------------------------\n");
}

void add_one(Printer& printer, PyObject* exception, const Exposure& exposure) {
  Ref traceback = Ref::steal(PyException_GetTraceback(exception));
  if (traceback) {
    const bool group = is_group(exception);
    printer.start_line(group && printer.indent == 2 ? "+ " : "| ");
    printer.text.add(group ? "Exception Group Traceback" : "Traceback");
    printer.text.add(" (most recent call last):\n");
    add_frames(printer, traceback.get(), exposure.edge);
  }
  add_last_lines(printer, exception, exposure.message);
  add_notes(printer, exception);
}

struct Link {
  Ref exception;
  bool is_cause = false;  // to the one that follows
};

// The exception that led to `exception`, or none; says whether it was given as the cause.
Link origin_of(PyObject* exception) {
  Ref cause = Ref::steal(PyException_GetCause(exception));
  if (cause) return {std::move(cause), true};
  Ref suppressed = field(refs().suppress_context, exception);
  if (suppressed.get() == Py_True) return {};
  return {Ref::steal(PyException_GetContext(exception)), false};
}

void add_with_members(Printer printer, PyObject* exception, const Exposure& exposure) {
  if (is_group(exception)) {
    printer.indent = 2;
    printer.in_group = true;
  }
  add_one(printer, exception, exposure);
  if (is_group(exception)) add_members(printer, exception, 1);
}

}  // namespace

void add_message(BoundedText& text, PyObject* exception, Py_ssize_t characters_bound) {
  Ref message = Ref::steal(PyObject_Str(exception));
  PyErr_Clear();
  if (!message) return text.add("<unprintable>");
  text.add_object(message.get(), characters_bound);
}

Frame frame_of(PyObject* traceback) {
  Frame frame;
  Ref object = attribute(traceback, "tb_frame");
  if (object) {
    auto* bare = reinterpret_cast<PyFrameObject*>(object.get());
    frame.code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(bare)));
  }
  Ref line = attribute(traceback, "tb_lineno");
  Ref instruction = attribute(traceback, "tb_lasti");
  if (line && PyLong_Check(line.get())) frame.line = PyLong_AsLong(line.get());
  if (instruction) frame.instruction = PyLong_AsLong(instruction.get());
  Ref file = frame.code ? attribute(frame.code.get(), "co_filename") : Ref();
  frame.of_program = file && file.get() == refs().file_name;
  PyErr_Clear();
  return frame;
}

Ref next_of(PyObject* traceback) {
  Ref next = attribute(traceback, "tb_next");
  PyErr_Clear();
  return next.get() == Py_None ? Ref() : std::move(next);
}

void format_exception(BoundedText& text, PyObject* exception, std::string_view source) {
  Link chain[kMaxChain];
  int length = 0;
  for (Link at{Ref::share(exception)}; at.exception && length < kMaxChain;) {
    const bool seen = std::any_of(chain, chain + length, [&](const Link& link) {
      return link.exception.get() == at.exception.get();
    });
    if (seen) break;
    Link origin = origin_of(at.exception.get());
    chain[length++] = std::move(at);
    at = std::move(origin);
  }

  Printer printer{text, source};
  text.limit(kMaxTraceback / 3);
  for (int i = length - 1; i > 0; --i) {
    add_with_members(printer, chain[i].exception.get(), kBrief);
    text.add(chain[i].is_cause
                 ? "\nThe above exception was the direct cause of the following exception:\n\n"
                 : "\nDuring handling of the above exception, another exception occurred:\n\n");
  }
  text.limit(kMaxTraceback);
  add_with_members(printer, exception, kFull);
}

}  // namespace shim
