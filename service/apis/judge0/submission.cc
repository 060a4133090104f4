#include "service/apis/judge0/submission.h"

#include <fmt/format.h>

#include <chrono>

namespace service::judge0 {

namespace {

// A small one's own share, so that many of them are bounded as well.
constexpr size_t kOverhead = 2048;

size_t size_of(const std::optional<std::string>& text) { return text ? text->size() : 0; }

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kInQueue:
      return "In Queue";
    case Status::kProcessing:
      return "Processing";
    case Status::kAccepted:
      return "Accepted";
    case Status::kWrongAnswer:
      return "Wrong Answer";
    case Status::kTimeLimitExceeded:
      return "Time Limit Exceeded";
    case Status::kCompilationError:
      return "Compilation Error";
    case Status::kSegv:
      return "Runtime Error (SIGSEGV)";
    case Status::kXfsz:
      return "Runtime Error (SIGXFSZ)";
    case Status::kFpe:
      return "Runtime Error (SIGFPE)";
    case Status::kAbrt:
      return "Runtime Error (SIGABRT)";
    case Status::kNzec:
      return "Runtime Error (NZEC)";
    case Status::kOther:
      return "Runtime Error (Other)";
    case Status::kInternalError:
      return "Internal Error";
    case Status::kExecFormatError:
      return "Exec Format Error";
  }
  return "Internal Error";
}

nlohmann::ordered_json json_of(Status status) {
  return {{"id", static_cast<int>(status)}, {"description", name_of(status)}};
}

std::string text_of(const AmountRule& rule, double value) {
  if (rule.is_whole) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.3f}", value);
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

size_t Asked::bytes() const {
  return kOverhead + source_code.size() + size_of(in) + size_of(expected_output) +
         size_of(compiler_options) + size_of(command_line_arguments) + size_of(callback_url) +
         size_of(additional_files);
}

size_t Ending::bytes() const {
  return kOverhead + size_of(out) + size_of(err) + size_of(compile_output) + size_of(message);
}

int64_t wall_clock_ms() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

}  // namespace service::judge0
