#pragma once
// The records of an execution of code, as E2B's code interpreter tells them: an object of JSON a
// line. Pure.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/result.h"

namespace service::e2b {

// Empty for an empty text. `stream`: "stdout", "stderr".
std::string stream_record(std::string_view stream, std::string_view text);
// A value that the code has shown, by MIME type; empty: it has none. The main one is that of the
// code's last expression.
enum class Is : uint8_t { kMainResult, kDisplayed };
std::string result_record(const nlohmann::json& data, Is which);
std::string error_record(std::string_view name, std::string_view value,
                         std::string_view traceback = {});
std::string count_record(unsigned executions);

// How an execution has ended, apart from what its interpreter says of that.
struct CodeEnd {
  std::string error = {};     // a record: what ended it; empty: it came to its own end
  std::string not_kept = {};  // why what it did is not kept, in a sentence; empty: it is
};
CodeEnd code_end(const runtime::JobResult& result);

// The record that comes last. `said`: how the interpreter says that it ended, as jupyter::ending_of
// has it; null: it has not said it. Empty: nothing is to be told.
std::string last_record(const CodeEnd& end, const std::optional<nlohmann::json>& said);

}  // namespace service::e2b
