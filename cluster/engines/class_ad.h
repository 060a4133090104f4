#pragma once
// A ClassAd of HTCondor as it lies beside a job: lines `Name = value`. Numbers and quoted strings
// are read; an expression counts as absent. Names are the same in upper and lower case. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cluster {

class ClassAd {
 public:
  explicit ClassAd(std::string_view text);

  std::optional<int64_t> number(std::string_view name) const;
  std::optional<std::string> string(std::string_view name) const;

 private:
  std::map<std::string, std::string> values_;  // by name in lower case, as written
};

}  // namespace cluster
