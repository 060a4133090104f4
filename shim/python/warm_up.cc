// Runs our own paths once in the template: a job then finds caches filled, types ready and pages
// that are already its own to read. Leaves nothing behind that a program could see.

#include <cstring>
#include <string>

#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"
#include "shim/python/report/exception.h"
#include "shim/python/setup.h"
#include "shim/python/values/encode.h"

namespace shim {
namespace {

constexpr std::string_view kSource =
    "import sys, math, collections\n"
    "from dataclasses import dataclass\n"
    "@dataclass\n"
    "class Point:\n"
    "    x: int\n"
    "    y: int\n"
    "def turn(grid, scale=1):\n"
    "    counts = collections.Counter(str(math.floor(v)) for row in grid for v in row)\n"
    "    points = sorted({(p.x, p.y) for p in [Point(1, 2)]})\n"
    "    return {'rows': [list(row)[::-1] for row in grid], 'text': f'{scale:>3}', 'x': 0.5,\n"
    "            'counts': counts, 'points': points, 'big': 1 << 80, 'set': {1, 2}}\n"
    "def fail(grid):\n"
    "    try:\n"
    "        return grid[99]\n"
    "    except IndexError:\n"
    "        raise ValueError('no row')\n";

bool round_trip(PyObject* module, char* buffer, size_t size, bool arrays) {
  Encoder input(buffer, size);
  input.open(Tag::kList, 2);
  for (int row = 0; row < 2; ++row) {
    input.open(Tag::kList, 2);
    input.small(1);
    input.integer(-2);
  }
  const std::string bytes(buffer, input.size());
  Reader from(bytes);
  Ref grid = decode_argument(from, arrays);
  Ref turn = grid ? attribute(module, "turn") : Ref();
  Ref result = turn ? call(turn.get(), grid.get()) : Ref();
  if (!result) return false;
  Encoder output(buffer, size);
  output.open_results();
  return output.add_result(result.get()) == Encoder::Outcome::kFine &&
         output.add_result(grid.get()) == Encoder::Outcome::kFine;
}

bool fail_once(PyObject* module, char* buffer, size_t size) {
  Ref fail = attribute(module, "fail");
  Ref none = Ref::steal(PyTuple_New(0));
  if (!fail || !none) return false;
  if (Ref result = call(fail.get(), none.get())) return false;
  Ref exception = take_exception();
  write_testimony(describe(exception.get(), Stage::kRun, kSource), buffer, size);
  return true;
}

}  // namespace

bool warm_up() {
  static char buffer[16 << 10];
  for (int i = 0; i < 3; ++i) {
    Ref code = compile_program(kSource);
    Ref module = make_module(Mode::kScript);
    Ref ran = code && module ? execute(code.get(), module.get()) : Ref();
    if (!ran || !round_trip(module.get(), buffer, sizeof buffer, false)) return false;
    if (loaded_numpy() && !round_trip(module.get(), buffer, sizeof buffer, true)) return false;
    if (!fail_once(module.get(), buffer, sizeof buffer) || !reseed()) return false;
    if (!call(refs().text_flush, refs().out)) return false;
  }
  if (PyObject_DelItem(refs().linecache, refs().file_name) < 0) PyErr_Clear();
  std::memset(buffer, 0, sizeof buffer);
  return true;
}

}  // namespace shim
