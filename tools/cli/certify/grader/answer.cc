#include "tools/cli/certify/grader/answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace cli {
namespace {

std::string_view last_line(std::string_view text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == text.npos) return {};
  text = text.substr(0, end + 1);
  const size_t begin = text.find_last_of('\n');
  return begin == text.npos ? text : text.substr(begin + 1);
}

std::optional<bool> said_in_json(std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto passed = object.find("passed"), score = object.find("score");
  if (passed != object.end() && passed->is_boolean()) return passed->get<bool>();
  if (score != object.end() && score->is_number()) return score->get<double>() >= 1;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Answer answer) {
  switch (answer) {
    case Answer::kPassed:
      return "passed";
    case Answer::kFailed:
      return "failed";
    case Answer::kNone:
      break;
  }
  return "no verdict";
}

Judgement judge_answer(const GraderEnd& end) {
  if (end.late) return {Answer::kNone, "time limit"};
  if (end.flooded) return {Answer::kNone, "output limit"};
  if (end.status == 1) return {Answer::kFailed, ""};
  if (end.status != 0) {
    const bool signalled = end.status > 128;
    const std::string_view said = last_line(end.err);
    return {Answer::kNone,
            fmt::format("{} {}{}{}", signalled ? "signal" : "exit code",
                        signalled ? end.status - 128 : end.status, said.empty() ? "" : ": ", said)};
  }
  return {said_in_json(last_line(end.out)).value_or(true) ? Answer::kPassed : Answer::kFailed, ""};
}

}  // namespace cli
