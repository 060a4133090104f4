#pragma once
// Tally: the number of results of each label. Pure value. Labels may come from programs (names of
// exception classes), so their length and number are bounded.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

class Tally {
 public:
  static constexpr size_t kLongestLabel = 80;  // characters
  static constexpr size_t kMostLabels = 1000;  // what comes after is counted as kOther
  static constexpr std::string_view kOther = "(other)";

  enum class Kind { kVerdict, kTrouble };  // trouble: BadJob, SandboxError
  void add(std::string_view label, Kind kind);
  void add_earlier(std::string_view label, Kind kind);  // from the results that --resume found

  size_t total() const { return total_; }
  size_t earlier() const { return earlier_; }
  size_t trouble() const { return trouble_; }
  // The most frequent first; equal counts by name.
  std::vector<std::pair<std::string, size_t>> sorted() const;

 private:
  std::map<std::string, size_t, std::less<>> counts_;
  size_t total_ = 0, earlier_ = 0, trouble_ = 0;
};

}  // namespace cli
