// The text of a program tells the same of its last statement as the tree that an interpreter of
// this process makes of it. The program is put together of pieces of Python, as few strings of
// bytes are programs.

#include <Python.h>

#include <cstdint>
#include <string>

#include "sandbox/sys/result.h"
#include "shim/python/ref.h"
#include "shim/python/steps/last_statement.h"
#include "tests/fuzz/input.h"

namespace {

using shim::LastStatement;
using shim::Ref;

constexpr std::string_view kPieces[] = {"\n",
                                        "\n",
                                        "\n",
                                        "\n    ",
                                        "x",
                                        "x",
                                        "y",
                                        "1",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        ",",
                                        " = ",
                                        " == ",
                                        " <= ",
                                        " += ",
                                        " >>= ",
                                        ":=",
                                        ":",
                                        ";",
                                        "\\\n",
                                        "#",
                                        "'",
                                        "\"",
                                        "'''",
                                        "\"\"\"",
                                        "f'",
                                        "f\"",
                                        "rb'",
                                        "\\",
                                        ".a",
                                        "x = 1",
                                        "f(x)",
                                        "'a'",
                                        "*",
                                        "**",
                                        "@",
                                        "lambda x=1: ",
                                        "if x:",
                                        "else:",
                                        "def f():",
                                        "for x in y:",
                                        "pass",
                                        "return",
                                        "not ",
                                        "yield ",
                                        "await ",
                                        "import a",
                                        "match x:\n  case 1: ",
                                        "x: int",
                                        "print(f'{x}')",
                                        " ",
                                        "\t",
                                        "\f",
                                        "\r",
                                        "from __future__ import annotations\n",
                                        "é",
                                        "type X = int",
                                        "class A:\n  ",
                                        "try:\n  ",
                                        "finally:",
                                        "with x:",
                                        "\\'",
                                        "async ",
                                        "\"'''",
                                        "'\"\"\"",
                                        "# '",
                                        "# \"",
                                        "raise"};

PyObject* builtin(const char* name) {
  static PyObject* const builtins = PyImport_ImportModule("builtins");
  return PyObject_GetAttrString(builtins, name);
}

bool start_python() {
  Py_InitializeEx(0);
  Ref warnings = Ref::steal(PyImport_ImportModule("warnings"));
  Ref done = warnings
                 ? Ref::steal(PyObject_CallMethod(warnings.get(), "simplefilter", "s", "ignore"))
                 : Ref();
  return static_cast<bool>(done);
}

// Null: it does not compile. No exception is set.
Ref compiled(const std::string& text, const char* how, int flags) {
  static PyObject* const compile = builtin("compile");
  Ref made = Ref::steal(PyObject_CallFunction(compile, "s#ssiO", text.data(),
                                              static_cast<Py_ssize_t>(text.size()), "a program",
                                              how, flags, Py_True));
  PyErr_Clear();
  return made;
}

struct Tree {
  bool is_there = false, ends_with_expression = false;
  Py_ssize_t statements = 0;
  long line = 0;  // of the last statement
};

Tree tree_of(const std::string& text) {
  constexpr int kOnlyTree = 0x400;  // PyCF_ONLY_AST
  Tree tree;
  const Ref module = compiled(text, "exec", kOnlyTree);
  const Ref body = module ? Ref::steal(PyObject_GetAttrString(module.get(), "body")) : Ref();
  if (!body) return tree;
  tree.is_there = true;
  tree.statements = PyList_Size(body.get());
  if (tree.statements == 0) return tree;
  PyObject* last = PyList_GetItem(body.get(), tree.statements - 1);  // borrowed
  const Ref kind = Ref::steal(PyObject_Str(reinterpret_cast<PyObject*>(Py_TYPE(last))));
  const Ref line = Ref::steal(PyObject_GetAttrString(last, "lineno"));
  tree.ends_with_expression =
      PyUnicode_CompareWithASCIIString(kind.get(), "<class 'ast.Expr'>") == 0;
  tree.line = PyLong_AsLong(line.get());
  return tree;
}

void check(const std::string& program) {
  const LastStatement last = shim::last_statement_of(program);
  VERIFY(last.begin <= program.size());
  VERIFY(last.begin == 0 || program[last.begin - 1] == '\n');
  if (last.looks == LastStatement::Looks::kUnclear) return;
  const Tree tree = tree_of(program);
  if (last.looks == LastStatement::Looks::kLikeStatement) {
    VERIFY(!tree.is_there || !tree.ends_with_expression);
    return;
  }
  const std::string before = program.substr(0, last.begin);
  const std::string text = std::string(last.lines, '\n') + program.substr(last.begin);
  if (!compiled(text, "eval", 0) || !compiled(before, "exec", 0)) return;
  VERIFY(tree.is_there && tree.ends_with_expression);
  VERIFY(tree.statements == tree_of(before).statements + 1);
  VERIFY(tree.line == static_cast<long>(last.lines) + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool started = start_python();
  VERIFY(started);
  constexpr size_t kMost = 200;
  std::string program;
  for (size_t i = 0; i < size && i < kMost; ++i) program += kPieces[data[i] % std::size(kPieces)];
  check(program);
  return 0;
}
