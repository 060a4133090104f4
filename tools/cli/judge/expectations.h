#pragma once
// submissions/submissions.yaml: the expected results of example submissions in the format of 2023,
// beyond those of their folders. Errors name the pattern and the field. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/judge/package/problem_yaml.h"
#include "tools/cli/judge/promise.h"

namespace cli {

struct YamlValue;

class Expectations {
 public:
  // "": only the folders count. Scores count in problems that give them.
  static sys::Result<Expectations> read(std::string_view yaml, ProblemType type);

  struct Expected {
    Promise promise;
    bool measures = true;             // for the time limit
    std::optional<ScoreRange> score;  // that it is to get
  };
  // `path` below submissions/, "accepted/x.py". An error: nothing would be as expected.
  sys::Result<Expected> of(std::string_view path) const;
  // Fields that are understood and make no difference here.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  struct Rule {
    std::string pattern;
    std::optional<Promise> permitted, required;  // of every test, of at least one
    bool measures = true;
    std::optional<ScoreRange> score;
  };
  static sys::Result<Rule> read_rule(const std::string& pattern, const YamlValue& value,
                                     ProblemType type, std::vector<std::string>& ignored);

  std::vector<Rule> rules_;
  std::vector<std::string> ignored_;
};

// Tells whether the pattern names the path or a folder around it: `*` within a name, {a,b}
// anywhere.
bool names_submission(std::string_view pattern, std::string_view path);

}  // namespace cli
