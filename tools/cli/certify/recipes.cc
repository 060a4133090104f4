// The kinds of programs of the built-in corpus. None depends on how fast the machine is: CPU time
// is measured by the program itself, and a program that passes a limit passes it by half or more.

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tools/cli/certify/mix.h"

namespace cli {
namespace {

using nlohmann::json;

constexpr double kMostBelow = 0.70, kLeastAbove = 1.5, kMostAbove = 4;  // shares of a limit of time
constexpr unsigned kMemoryMb = 64, kPids = 8, kFiles = 100, kStdoutKb = 64;
constexpr unsigned kAmpleMemoryMb = 32;  // of programs that are not about it
// The wall limit of programs that are not about it: with 64 at once on a core each has to wait.
constexpr unsigned kLongWallMs = 600'000;
constexpr std::array<unsigned, 3> kCpuMs{200, 300, 400}, kWallMs{400, 600, 800};

const char* const kOk = "OK";
const char* const kTimeout = "TimeoutException";
const char* const kWrong = "WrongAnswer";

MixedProgram program(const std::string& id, const std::string& source, const json& label,
                     const json& limits = json::object(), json more = json::object()) {
  more["id"] = id;
  more["source"] = source;
  more["label"] = label;
  more["limits"] = {{"memory_mb", kAmpleMemoryMb}, {"wall_ms", kLongWallMs}};
  more["limits"].update(limits);
  return {more.dump(), false};
}

MixedProgram spin(Dice& dice, const std::string& id, double least, double most, const json& label) {
  const unsigned limit = dice.one_of<unsigned>(kCpuMs);
  const std::string source = fmt::format(
      "import time\nx = 1\nwhile time.process_time() < {:.4f}:\n    for _ in range({}): "
      "x = x * 1103515245 + 12345 & 0x7fffffff\nprint(x)",
      limit / 1000.0 * dice.between(least, most), dice.from_to(20, 200));
  return program(id, source, label, {{"cpu_ms", limit}});
}

MixedProgram cpu_below(Dice& dice, const std::string& id) {
  return spin(dice, id, 0.05, kMostBelow, kOk);
}

MixedProgram cpu_above(Dice& dice, const std::string& id) {
  return spin(dice, id, kLeastAbove, kMostAbove, kTimeout);
}

// The first label is what a perfect clock would say.
MixedProgram cpu_band(Dice& dice, const std::string& id) {
  const bool above = dice.below(2) == 1;
  MixedProgram made = above ? spin(dice, id, 1, kLeastAbove, {kTimeout, kOk})
                            : spin(dice, id, kMostBelow, 1, {kOk, kTimeout});
  made.is_band = true;
  return made;
}

MixedProgram sleep(Dice& dice, const std::string& id, double least, double most,
                   const char* label) {
  const unsigned limit = dice.one_of<unsigned>(kWallMs);
  const double time = limit / 1000.0 * dice.between(least, most);
  return program(id, fmt::format("import time\ntime.sleep({:.4f})\nprint('slept')", time), label,
                 {{"wall_ms", limit}});
}

MixedProgram wall_below(Dice& dice, const std::string& id) {
  return sleep(dice, id, 0.05, kMostBelow, kOk);
}

MixedProgram wall_above(Dice& dice, const std::string& id) {
  return sleep(dice, id, kLeastAbove, kMostAbove, kTimeout);
}

// What is held for a while is seen where nothing but a watch looks after memory, too.
MixedProgram memory(Dice& dice, const std::string& id, uint64_t mebibytes, const char* label) {
  const char* hold = label == kOk ? "" : "import time\ntime.sleep(2)\n";
  const std::string source =
      dice.below(2) == 1
          ? fmt::format("block = b'x' * ({} << 20)\n{}print(len(block))", mebibytes, hold)
          : fmt::format(
                "blocks = []\nfor _ in range({}): blocks.append(b'x' * (1 << 20))\n{}"
                "print(len(blocks))",
                mebibytes, hold);
  return program(id, source, label, {{"memory_mb", kMemoryMb}});
}

MixedProgram memory_below(Dice& dice, const std::string& id) {
  return memory(dice, id, dice.from_to(4, 40), kOk);
}

MixedProgram memory_above(Dice& dice, const std::string& id) {
  return memory(dice, id, dice.from_to(90, 160), "MemoryLimitExceeded");
}

MixedProgram exception(Dice& dice, const std::string& id) {
  constexpr std::array<std::array<const char*, 2>, 8> kRaised{{
      {"ValueError", "int('seven')"},
      {"IndexError", "[][3]"},
      {"KeyError", "{}['a']"},
      {"ZeroDivisionError", "1 // 0"},
      {"TypeError", "len(7)"},
      {"AssertionError", "assert 1 > 2"},
      {"Mine", "class Mine(Exception): pass\nraise Mine('own')"},
      {"SyntaxError", "print('a' 'b'"},
  }};
  const auto& [label, source] = kRaised[dice.below(kRaised.size())];
  return program(id, source, label);
}

MixedProgram exit_code(Dice& dice, const std::string& id) {
  const uint64_t code = dice.from_to(1, 255);
  switch (dice.below(4)) {
    case 0:
      return program(id, "import sys\nsys.exit(0)", kOk);
    case 1:
      return program(id, fmt::format("import os\nos._exit({})", code), "NonZeroExit");
    case 2:
      return program(id, "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", "Signalled");
    default:
      return program(id, fmt::format("import sys\nsys.exit({})", code), "NonZeroExit");
  }
}

MixedProgram output(Dice& dice, const std::string& id) {
  const bool above = dice.below(2) == 1;
  const uint64_t kilobytes = above ? dice.from_to(96, 400) : dice.from_to(1, 40);
  return program(id, fmt::format("for _ in range({}): print('x' * 1023)", kilobytes),
                 above ? "OutputLimitExceeded" : kOk, {{"stdout_kb", kStdoutKb}});
}

MixedProgram files(Dice& dice, const std::string& id) {
  const bool above = dice.below(2) == 1;
  const uint64_t count = above ? dice.from_to(150, 400) : dice.from_to(1, 60);
  return program(id, fmt::format("for i in range({}): open(str(i), 'w').close()", count),
                 above ? "DiskLimitExceeded" : kOk, {{"files", kFiles}});
}

// Each thread stays until the end, so their number does not depend on who runs when.
MixedProgram threads(Dice& dice, const std::string& id) {
  const bool above = dice.below(2) == 1;
  const uint64_t count = above ? dice.from_to(12, 40) : dice.from_to(1, 5);
  const std::string source = fmt::format(
      "import threading\nend = threading.Event()\nfor _ in range({}):\n"
      "    threading.Thread(target=end.wait, daemon=True).start()\nend.set()",
      count);
  return program(id, source, above ? "ProcessLimitExceeded" : kOk, {{"pids", kPids}});
}

MixedProgram unsafe(Dice& dice, const std::string& id) {
  constexpr std::array<const char*, 4> kBad{
      "import socket\nsocket.socket()", "open('/etc/passwd', 'a')",
      "import os\ntry: os.fork()\nexcept OSError: print('swallowed')",
      "import os\nos.system('id')"};
  return program(id, dice.one_of<const char*>(kBad), "UnsafeCode");
}

MixedProgram answer(Dice& dice, const std::string& id) {
  const uint64_t factor = dice.from_to(2, 99), tests = dice.from_to(1, 3);
  const bool wrong = dice.below(2) == 1;
  json all = json::array();
  for (uint64_t i = 1; i <= tests; ++i) {
    const uint64_t input = dice.from_to(1, 1000);
    const uint64_t expect = input * factor + (wrong && i == tests ? 1 : 0);
    all.push_back({{"stdin", std::to_string(input)}, {"expect", std::to_string(expect)}});
  }
  return program(id, fmt::format("print(int(input()) * {})", factor), wrong ? kWrong : kOk,
                 json::object(), {{"tests", all}});
}

MixedProgram value(Dice& dice, const std::string& id) {
  const uint64_t input = dice.from_to(1, 1000);
  json call = {{"mode", "call"}, {"func", "f"}};
  const uint64_t kind = dice.below(4);
  if (kind == 0) {
    call["inputs"] = {input};
    return program(id, "def f(x): return {'a': [x, object()]}", "InvalidResult", json::object(),
                   call);
  }
  const bool wrong = kind == 1;
  json expected = {input, input * input + (wrong ? 1 : 0)};
  call["tests"] = {{{"args", {input}}, {"expect", expected}}};
  return program(id, "def f(x): return [x, x * x]", wrong ? kWrong : kOk, json::object(), call);
}

constexpr Recipe kRecipes[] = {
    {"cpu-below", 16, cpu_below},
    {"cpu-above", 10, cpu_above},
    {"cpu-band", 6, cpu_band},
    {"wall-below", 12, wall_below},
    {"wall-above", 6, wall_above},
    {"memory-below", 7, memory_below},
    {"memory-above", 6, memory_above},
    {"exception", 9, exception},
    {"exit", 5, exit_code},
    {"output", 4, output},
    {"files", 3, files},
    {"threads", 3, threads},
    {"unsafe", 4, unsafe},
    {"answer", 5, answer},
    {"value", 4, value},
};

}  // namespace

std::span<const Recipe> recipes() { return kRecipes; }

}  // namespace cli
