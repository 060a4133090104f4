#pragma once
// Session: one `zygo judge` once package and engine are there. Finds the time limit, judges in
// order, shows each submission as soon as its verdict is known.

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/engine_setup.h"
#include "tools/cli/judge/report.h"

namespace cli {

// A package that was read, with its validator and its folder.
struct Problem {
  Folder folder;
  Package package;
  std::optional<runtime::Checker> checker;
};

class Session {
 public:
  // All are borrowed. `known`: the templates there are.
  Session(const CommandLine& line, const Problem& problem,
          const std::vector<runtime::TemplateSpec>& known, runtime::Engine& engine, int stop);

  int judge_examples();                                      // --self
  int judge_these(const std::vector<SourceProgram>& given);  // both return the exit code

 private:
  // Judged, beside what its folder or a line in it promises.
  struct Example {
    Judged judged;
    Promise promise;
    std::optional<ScoreRange> score_promise = {};
  };
  Example judge_example(const ExampleSubmission& example);
  Judged judge(const SourceProgram& program);
  void measure();
  void begin(Columns columns);
  void show(const Row& row);
  int conclude() const;

  const CommandLine& line_;
  const Problem& problem_;
  const std::vector<runtime::TemplateSpec>& known_;
  Jury jury_;
  const Tests tests_;
  const Style style_;
  Measure measure_;
  Columns columns_;
  std::vector<std::optional<Example>> accepted_;  // by example: those that measure() has judged
  size_t shown_ = 0, bad_ = 0;
};

// Python programs of a package run in the template that --template or --preload names.
void choose_template(SourceProgram& program, const CommonOptions& common);

}  // namespace cli
