#pragma once
// The cases of `zygo certify --grader`: tasks with programs, drawn by a seed, and a case as the
// JSON that the grader reads. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/certify/grader/task.h"

namespace cli {

enum class Intent { kHonest, kWrong, kExploit };
std::string_view name_of(Intent intent);

struct GraderCase {
  std::string id;  // says nothing about the intent
  Intent intent = Intent::kHonest;
  std::string variant;  // "recursive", "exit_zero", ...
  const GraderTask* task = nullptr;
  std::string program;
};

struct CaseChoice {
  std::vector<TaskKind> kinds{TaskKind::kFunction, TaskKind::kClass};
  std::vector<std::string> only = {};  // names of exploits and variants; none: all
  size_t count = 0;  // 0: all honest and wrong programs, and each exploit with kTasksOfExploit
  uint64_t seed = 1;
  bool fenced = true;  // false: without exploits that need it
};
inline constexpr size_t kTasksOfExploit = 3;

// The first of the names that no exploit or honest variant has; empty: all have one.
std::string unknown_name(const GraderCorpus& corpus, const std::vector<std::string>& names);

// In a random order; the program of a name on a task is the same whatever else is chosen. If there
// is room, each variant and exploit is there at least once.
std::vector<GraderCase> draw_cases(const GraderCorpus& corpus, const CaseChoice& choice);

std::string case_json(const GraderCase& each);

}  // namespace cli
