#include "service/apis/judge0/ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/values/utf8.h"
#include "service/apis/judge0/languages.h"
#include "service/apis/results.h"

namespace service::judge0 {

using runtime::Family;
using runtime::JobResult;
using runtime::Outcome;

namespace {

constexpr int kKilled = 9;
constexpr int kMicrosInSecond = 1'000'000;

std::optional<std::string> text_or_none(std::string bytes) {
  if (bytes.empty()) return std::nullopt;
  return bytes;
}

std::string_view without_blanks_behind(std::string_view text) {
  constexpr std::string_view kBlanks(" \t\r\n\v\f\0", 7);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return without_blanks_behind(line);
}

Status status_of_signal(int signal) {
  switch (signal) {
    case 11:
      return Status::kSegv;
    case 25:
      return Status::kXfsz;
    case 8:
      return Status::kFpe;
    case 6:
      return Status::kAbrt;
    default:
      return Status::kOther;
  }
}

void end_by_signal(int signal, Ending& ending) {
  ending.exit_signal = signal;
  ending.status = status_of_signal(signal);
  ending.message = fmt::format("Caught fatal signal {}", signal);
}

void end_by_limit(Status status, std::string message, Ending& ending) {
  ending.exit_signal = kKilled;
  ending.status = status;
  ending.message = std::move(message);
}

// Whoever is late without having been stopped was within the extra time.
bool is_late(const JobResult& result, const Asked& asked) {
  const double limit = asked.amounts.cpu_time_limit;
  return limit > 0 && static_cast<double>(result.usage.cpu_us) > limit * kMicrosInSecond;
}

void end_by_itself(const JobResult& result, const Asked& asked, Ending& ending) {
  if (result.exit && result.exit->signalled) return end_by_signal(result.exit->code, ending);
  const bool well = ended_well(result.verdict);
  const int code = result.exit ? result.exit->code : 0;
  ending.exit_code = code != 0 || well ? code : 1;
  if (*ending.exit_code != 0) {
    ending.status = Status::kNzec;
    ending.message = fmt::format("Exited with error status {}", *ending.exit_code);
  } else if (is_late(result, asked)) {
    ending.status = Status::kTimeLimitExceeded;
    ending.message = "Time limit exceeded";
  } else {
    const bool right =
        !asked.expected_output || is_as_expected(result.out.bytes, *asked.expected_output);
    ending.status = right ? Status::kAccepted : Status::kWrongAnswer;
  }
}

void end_late(const JobResult& result, Ending& ending) {
  const std::string* limit = detail_text(result.verdict, "limit");
  const bool by_wall = limit && *limit == "wall";
  end_by_limit(Status::kTimeLimitExceeded,
               by_wall ? "Time limit exceeded (wall clock)" : "Time limit exceeded", ending);
}

void end_run(const JobResult& result, const Asked& asked, Ending& ending) {
  const runtime::Verdict& verdict = result.verdict;
  switch (family_of(verdict.outcome)) {
    case Family::kTime:
      return end_late(result, ending);
    case Family::kOutput:
      return end_by_limit(Status::kXfsz, why_of(verdict), ending);
    case Family::kMemory:
      return end_by_limit(Status::kOther, why_of(verdict), ending);
    case Family::kOtherLimit:
      if (verdict.outcome == Outcome::kDiskLimit)
        return end_by_limit(Status::kXfsz, why_of(verdict), ending);
      break;  // a fork that was refused is an error that the program may get over
    case Family::kPolicy:
      if (verdict.outcome == Outcome::kUnsafeCode)
        return end_by_limit(Status::kOther, why_of(verdict), ending);
      break;
    case Family::kOk:
    case Family::kWrongAnswer:
    case Family::kFailed:
    case Family::kNoProgram:
    case Family::kCancelled:
    case Family::kTrouble:
      break;
  }
  end_by_itself(result, asked, ending);
}

// Null: there is none.
const runtime::InputFile* file_of(const JobResult& result, std::string_view path) {
  const auto& files = result.files.files;
  const auto found = std::ranges::find(files, path, &runtime::InputFile::path);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

bool is_as_expected(std::string_view out, std::string_view expected) {
  out = without_blanks_behind(out);
  expected = without_blanks_behind(expected);
  while (!out.empty() && !expected.empty()) {
    if (take_line(out) != take_line(expected)) return false;
  }
  return out.empty() && expected.empty();
}

Ending internal_error(std::string message) { return {.message = std::move(message)}; }

Ending ending_of(const JobResult& result, const Asked& asked) {
  Ending ending;
  ending.facts = facts_of(result);
  if (is_not_the_programs(result.verdict)) {
    ending.message = why_of(result.verdict);
    return ending;
  }
  if (result.verdict.outcome == Outcome::kCompilationError) {
    ending.status = Status::kCompilationError;
    ending.compile_output = is_late_build(result.verdict)
                                ? "Compilation time limit exceeded."
                                : text_or_none(result.out.bytes + result.err.bytes);
    return ending;
  }
  if (asked.is_project) {
    const auto* output = file_of(result, kCompileOutput);
    if (output) ending.compile_output = text_or_none(output->content);
    if (file_of(result, kCompileFailed)) {
      ending.status = Status::kCompilationError;
      return ending;
    }
  }
  ending.out = text_or_none(result.out.bytes);
  ending.err = text_or_none(result.err.bytes);
  ending.cpu_us = result.usage.cpu_us;
  ending.wall_us = result.usage.wall_us;
  ending.memory_kb = result.usage.memory_peak_bytes / 1024;
  end_run(result, asked, ending);
  // It may name a path of the program's, and is a text all the same.
  if (ending.message) ending.message = runtime::repaired_utf8(*ending.message);
  return ending;
}

}  // namespace service::judge0
