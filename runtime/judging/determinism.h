#pragma once
// The comparison behind NonDeterministicCode: two runs of one job under different seeds must end
// with the same label, value and stdout. Pure.

#include <string>
#include <vector>

#include "runtime/job/result.h"

namespace runtime {

// A first run that ended by limit or policy (or that never ran) stands; no second one is needed.
bool stands_alone(const Verdict& first);

// Folds a later run into the first one's result: same stays as it was, a difference makes it
// NonDeterministicCode and names axis and place. `runs` counts both.
void compare_runs(JobResult& first, const JobResult& later, unsigned runs);

// Of a job in fixed mode.
struct FixedFacts {
  bool is_executed = false;        // a program of its own, not one that our interpreter runs
  bool is_preloaded = true;        // the library that fixes time and chance could be loaded into it
  bool has_own_pids = true;        // a namespace
  bool has_addresses = true;       // memory can be had at the same addresses
  bool had_company = false;        // there was more than one thread or process
  bool had_unfixed_child = false;  // that library was not loaded into a program that it executed
  bool has_own_view = true;        // files and ids as they are in every cell, not the host's
};
// What may differ between runs all the same, in the words of docs/determinism.md; sorted.
std::vector<std::string> not_fixed(const FixedFacts& facts);

// Of several runs: what may differ in one of them. Sorted, as both are.
void add_not_fixed(const std::vector<std::string>& words, std::vector<std::string>& into);

}  // namespace runtime
