#pragma once
// Tasks, variants and exploits of `zygo certify --grader`, read from their files. Pure.
//
// A task's file has sections, each begun by a line `#: WORD ...`:
//   #: kind function      function, class or stdin
//   #: entry NAME         what the tests call; not for stdin
//   #: locals NAME ...    names in the programs that may be any other
//   #: prompt             what the program is to do
//   #: check              def check(candidate), which decides; or
//   #: io                 a line of JSON for each test, {"stdin", "expect"}
//   #: honest NAME        a right program; the first is `plain`
//   #: wrong NAME         a program that fails
// A variant's or exploit's file begins with its description as a comment, then maybe lines
// `# kinds: function class` and `# needs: fence`. In its text `ENTRY` is the entry point's name,
// and a line `# PROGRAM` is where the right (variant) or wrong (exploit) program stands.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace cli {

enum class TaskKind { kFunction, kClass, kStdin };
inline constexpr TaskKind kTaskKinds[] = {TaskKind::kFunction, TaskKind::kClass, TaskKind::kStdin};
std::string_view name_of(TaskKind kind);
sys::Result<std::vector<TaskKind>> parse_task_kinds(std::string_view text, char between);

struct NamedProgram {
  std::string name, source;
};

struct GraderTask {
  std::string name;
  TaskKind kind = TaskKind::kFunction;
  std::string entry, prompt, check;
  std::vector<std::string> io;  // lines of JSON
  std::vector<std::string> locals;
  std::vector<NamedProgram> honest, wrong;
};
sys::Result<GraderTask> parse_task(std::string_view name, std::string_view text);

struct ProgramTemplate {
  std::string name, description, text;
  std::vector<TaskKind> kinds;
  bool needs_fence = false;  // signals or overwrites what is not its own
};
sys::Result<ProgramTemplate> parse_template(std::string_view name, std::string_view text);

struct GraderCorpus {
  std::vector<GraderTask> tasks;
  std::vector<ProgramTemplate> variants, exploits;
};
const GraderCorpus& grader_corpus();  // the built-in one

std::string fill_template(const ProgramTemplate& form, const GraderTask& task,
                          const std::string& program);

// Each whole word of `names` becomes another: `names` and `others` are of one length.
std::string rename_words(std::string_view source, const std::vector<std::string>& names,
                         const std::vector<std::string>& others);

// The tests as a file of pytest's, which imports the program as the module `solution`.
std::string test_file_of(const GraderTask& task);

}  // namespace cli
