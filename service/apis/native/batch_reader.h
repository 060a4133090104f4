#pragma once
// BatchReader: the jobs in the body of a batch, one after another, each with an id of its own. Used
// by batches that are answered as they run, and by those that are kept. Pure; the body is
// untrusted.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/result.h"

namespace service {

// The jobs in the body of a batch: lines, or the elements of {"defaults": {}, "jobs": []}.
struct BatchBody {
  std::optional<runtime::JobDefaults> defaults;
  std::string defaults_text;  // of them, as it was sent
  bool is_object = false;     // the second form
  std::string elements;       // of it, a line each

  static sys::Result<BatchBody> read(std::string_view body);
};

class BatchReader {
 public:
  struct Item {
    std::string id;
    std::string_view line;
    std::variant<runtime::Job, std::string> content;  // a job, or the result of what is none: JSON
  };
  // Tells whether raw parts may stand in front of lines (runtime/values/parts.h); a job with parts
  // that are refused is none.
  enum class PartsAre : uint8_t { kRead, kRefused };
  // `text` is what the body was read from, and must stay where it is. `defaults` count where the
  // body has none.
  BatchReader(BatchBody body, std::string_view text, runtime::JobDefaults defaults,
              PartsAre parts = PartsAre::kRefused);
  BatchReader(BatchReader&&) = delete;

  std::optional<Item> next();  // blank lines are passed over
  size_t next_bytes() const;   // of its line, or of the parts in front of it
  // A client that sent parts, or said that there are none, can read parts, too.
  bool wants_parts() const { return wants_parts_; }
  bool at_end() const { return left_.empty(); }
  size_t line_number() const { return number_; }  // of the last item, from 1

 private:
  Item bad_job(std::string_view line, std::string message, runtime::JobIdentity identity);
  std::string generated_id();
  std::string_view take_line();
  std::string take_parts(const std::vector<uint64_t>& sizes, runtime::Parts& parts);

  const PartsAre parts_are_;
  bool wants_parts_ = false;
  const BatchBody body_;
  const runtime::JobDefaults defaults_;
  std::string_view left_;
  size_t number_ = 0;
  std::unordered_set<std::string> ids_;
};

}  // namespace service
