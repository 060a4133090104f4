#pragma once
// submissions/submissions.yaml: what the format of 2023 says that example submissions end as,
// beyond the folders they lie in. Errors name the pattern and the field. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/judge/promise.h"

namespace cli {

struct YamlValue;

class Expectations {
 public:
  static sys::Result<Expectations> read(std::string_view yaml);  // "": only the folders count

  struct Expected {
    Promise promise;
    bool measures = true;  // for the time limit
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
  };
  static sys::Result<Rule> read_rule(const std::string& pattern, const YamlValue& value,
                                     std::vector<std::string>& ignored);

  std::vector<Rule> rules_;
  std::vector<std::string> ignored_;
};

// Whether the pattern names the path or a folder around it: `*` within a name, {a,b} anywhere.
bool names_submission(std::string_view pattern, std::string_view path);

}  // namespace cli
