// A step of a session: the program's names are those that the steps before it left, the value of
// its last expression is its answer, as an interactive interpreter shows it, and at its end the
// process rests.

#include <string>

#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"
#include "shim/python/setup.h"
#include "shim/python/steps/last_statement.h"
#include "shim/python/values/encode.h"

namespace shim {
namespace {

constexpr long kOnlyTree = 0x400;          // PyCF_ONLY_AST
constexpr Py_ssize_t kMostText = 1 << 18;  // characters of a repr() that are kept

// An object may show itself in these ways (IPython's display protocol); text is what repr() says.
struct Format {
  const char* method;
  const char* type;
};
constexpr Format kFormats[] = {
    {"_repr_html_", "text/html"},        {"_repr_markdown_", "text/markdown"},
    {"_repr_svg_", "image/svg+xml"},     {"_repr_png_", "image/png"},
    {"_repr_jpeg_", "image/jpeg"},       {"_repr_latex_", "text/latex"},
    {"_repr_json_", "application/json"},
};

// Compiles a tree, or a text.
Ref compile_as(PyObject* what, const char* how) {
  Ref mode = Ref::steal(PyUnicode_FromString(how));
  Ref no_flags = Ref::steal(PyLong_FromLong(0));
  if (!mode || !no_flags) return {};
  return call(refs().compile, what, refs().file_name, mode.get(), no_flags.get(), Py_True);
}

Ref compile_text(std::string_view source, const char* how) {
  Ref text = decode_text(source);
  return text ? compile_as(text.get(), how) : Ref();
}

// A program in two: all but its last expression, and that, if it ends with one.
struct Parts {
  Ref statements, expression;
  bool are_there = false;
};

Parts compile_by_tree(std::string_view source) {
  Parts parts;
  Ref tree = parse_program(source, kOnlyTree);
  Ref body = tree ? attribute(tree.get(), "body") : Ref();
  if (!body) return parts;
  const Py_ssize_t count = PyList_Size(body.get());
  PyObject* last = count > 0 ? PyList_GetItem(body.get(), count - 1) : nullptr;  // borrowed
  if (last && Py_TYPE(last) == reinterpret_cast<PyTypeObject*>(refs().tree_of_statement)) {
    Ref value = attribute(last, "value");
    Ref whole = value ? call(refs().tree_of_expression, value.get()) : Ref();
    if (!whole || PyList_SetSlice(body.get(), count - 1, count, nullptr) < 0) return parts;
    parts.expression = compile_as(whole.get(), "eval");
    if (!parts.expression) return parts;
  }
  parts.statements = compile_as(tree.get(), "exec");
  parts.are_there = static_cast<bool>(parts.statements);
  return parts;
}

// The same by what the text tells.
Parts compile_by_text(std::string_view source, const LastStatement& last) {
  Parts parts;
  size_t size = source.size();  // of the statements
  offer_program(source);
  if (last.looks == LastStatement::Looks::kLikeExpression) {
    size = last.begin;
    const std::string text = std::string(last.lines, '\n').append(source.substr(size));
    parts.expression = compile_text(text, "eval");
    if (!parts.expression) return parts;
  }
  parts.statements = compile_text(source.substr(0, size), "exec");
  parts.are_there = static_cast<bool>(parts.statements);
  return parts;
}

Parts compile_step(std::string_view source) {
  const LastStatement last = last_statement_of(source);
  if (last.looks == LastStatement::Looks::kUnclear) return compile_by_tree(source);
  Parts parts = compile_by_text(source, last);
  const bool was_wrong = !parts.are_there && last.looks == LastStatement::Looks::kLikeExpression &&
                         PyErr_ExceptionMatches(PyExc_SyntaxError);
  if (!was_wrong) return parts;
  PyErr_Clear();
  return compile_by_tree(source);
}

// Null with an exception set.
Ref text_of(PyObject* value) {
  Ref text = Ref::steal(PyObject_Repr(value));
  if (!text || PyUnicode_GetLength(text.get()) <= kMostText) return text;
  return Ref::steal(PyUnicode_Substring(text.get(), 0, kMostText));
}

void add_format(PyObject* shown, PyObject* value, const Format& format) {
  Ref method = attribute(reinterpret_cast<PyObject*>(Py_TYPE(value)), format.method);
  Ref made = method ? call(method.get(), value) : Ref();
  if (made && made.get() != Py_None) PyDict_SetItemString(shown, format.type, made.get());
  PyErr_Clear();  // what cannot show itself so is shown by its text
}

void add_bundle(PyObject* shown, PyObject* value) {
  Ref method = attribute(reinterpret_cast<PyObject*>(Py_TYPE(value)), "_repr_mimebundle_");
  Ref made = method ? call(method.get(), value) : Ref();
  if (made && PyTuple_Check(made.get()) && PyTuple_Size(made.get()) > 0)
    made = Ref::share(PyTuple_GetItem(made.get(), 0));
  if (made && PyDict_Check(made.get())) PyDict_Update(shown, made.get());
  PyErr_Clear();
}

// By MIME type. Null with an exception set: it has no repr().
Ref display_of(PyObject* value) {
  Ref text = text_of(value);
  Ref shown = text ? Ref::steal(PyDict_New()) : Ref();
  if (!shown) return {};
  for (const Format& format : kFormats) add_format(shown.get(), value, format);
  add_bundle(shown.get(), value);
  if (PyDict_SetItemString(shown.get(), "text/plain", text.get()) < 0) return {};
  return shown;
}

Ref text_alone(PyObject* shown) {
  Ref alone = Ref::steal(PyDict_New());
  PyObject* text = PyDict_GetItemString(shown, "text/plain");
  if (!alone || !text || PyDict_SetItemString(alone.get(), "text/plain", text) < 0) return {};
  return alone;
}

// False: an exception is set.
bool write_value(PyObject* value, PyObject* shown, const Answer& answer, Ending& ending) {
  Ref alone = text_alone(shown);
  if (!alone) return false;
  // What cannot be encoded, or is too large, is left out, last the text.
  PyObject* const tries[][2] = {{value, shown},
                                {Py_None, shown},
                                {value, alone.get()},
                                {Py_None, alone.get()},
                                {Py_None, Py_None}};
  for (const auto& [first, second] : tries) {
    Encoder results(answer.payload(), answer.space.capacity);
    results.open_results();
    Encoder::Outcome outcome = results.add_result(first);
    if (outcome == Encoder::Outcome::kFine) outcome = results.add_result(second);
    if (outcome == Encoder::Outcome::kRaised) return false;
    if (outcome == Encoder::Outcome::kInvalid) continue;
    ending = {AnswerKind::kValue, results.size(), 0};
    return true;
  }
  return true;
}

}  // namespace

Ending run_step(const Request& request, const Answer& answer) {
  Parts parts = compile_step(request.source);
  if (!parts.are_there) return end_script(answer, Stage::kCompile, request.source);
  PyObject* module = module_of_job(Mode::kStep);
  Ending ending;
  if (!execute(parts.statements.get(), module))
    return end_script(answer, Stage::kRun, request.source);
  if (!parts.expression) return ending;
  Ref value = execute(parts.expression.get(), module);
  if (!value) return end_script(answer, Stage::kRun, request.source);
  if (value.get() == Py_None) return ending;
  PyDict_SetItemString(PyModule_GetDict(refs().builtins), "_", value.get());
  Ref shown = display_of(value.get());
  if (!shown || !write_value(value.get(), shown.get(), answer, ending))
    return end_script(answer, Stage::kRun, request.source);
  return ending;
}

}  // namespace shim
