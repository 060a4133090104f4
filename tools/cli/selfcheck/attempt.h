#pragma once
// Attempts of `zygo selfcheck`: each is a Python program with a heading that says what it is, at
// which levels it must fail, and how it may end. Pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace cli {

struct EmbeddedProgram {
  std::string_view name, text;
};
// prelude, neighbour, and the attempts in order; made at build time from the .py files here.
std::span<const EmbeddedProgram> selfcheck_programs();

// The heading, the program's first string: a title, then lines "Key: a, b".
struct Attempt {
  std::string name = {}, title = {};
  std::string source = {};                               // what runs, the prelude in front
  std::vector<sandbox::Level> promised = {};             // Promised: full, minimal; else all
  sandbox::Layers needs = {};                            // Needs: promised only with these in force
  sandbox::Layers by = {};                               // By: what is there to hold it
  std::vector<std::string> ends = {"OK", "UnsafeCode"};  // Ends: the labels that can mean "held"
  std::string profile = "default";                       // Profile:
  std::string limits = {};                               // Limits: memory_mb=48, pids=12
  std::string func = {};                                 // Call: call mode, with the facts as input
  std::string after = {};  // After: the attempt that runs before in the same cell
};

sys::Result<Attempt> parse_attempt(const EmbeddedProgram& program, std::string_view prelude);

// All of them. An error names the program and the line that is wrong.
sys::Result<std::vector<Attempt>> selfcheck_attempts();
std::string_view selfcheck_program(std::string_view name);

}  // namespace cli
