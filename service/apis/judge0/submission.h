#pragma once
// A submission as Judge0's clients know it: what was asked for, how it ended, and its status. Plain
// values.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace service::judge0 {

// The numbers are on the wire.
enum class Status : uint8_t {
  kInQueue = 1,
  kProcessing,
  kAccepted,
  kWrongAnswer,
  kTimeLimitExceeded,
  kCompilationError,
  kSegv,
  kXfsz,
  kFpe,
  kAbrt,
  kNzec,
  kOther,
  kInternalError,
  kExecFormatError,
};
inline constexpr Status kStatuses[] = {Status::kInQueue,
                                       Status::kProcessing,
                                       Status::kAccepted,
                                       Status::kWrongAnswer,
                                       Status::kTimeLimitExceeded,
                                       Status::kCompilationError,
                                       Status::kSegv,
                                       Status::kXfsz,
                                       Status::kFpe,
                                       Status::kAbrt,
                                       Status::kNzec,
                                       Status::kOther,
                                       Status::kInternalError,
                                       Status::kExecFormatError};
std::string_view name_of(Status status);  // "In Queue"
nlohmann::ordered_json json_of(Status status);

// The limits of a submission, under the original's names and in its units: seconds and KB.
struct Amounts {
  double cpu_time_limit, cpu_extra_time, wall_time_limit;
  double memory_limit, stack_limit, max_processes_and_or_threads, max_file_size, number_of_runs;
};

// The values that a submission may give. The usual ones and the largest are those of the original.
struct AmountRule {
  std::string_view name;
  double Amounts::*member;
  double usual, least, most;
  bool is_whole = true;
  bool above_least = false;  // the least one is too small
};
inline constexpr AmountRule kAmounts[] = {
    {"cpu_time_limit", &Amounts::cpu_time_limit, 5, 0, 15, false},
    {"cpu_extra_time", &Amounts::cpu_extra_time, 1, 0, 5, false},
    {"wall_time_limit", &Amounts::wall_time_limit, 10, 1, 20, false},
    {"memory_limit", &Amounts::memory_limit, 128'000, 2048, 512'000},
    {"stack_limit", &Amounts::stack_limit, 64'000, 0, 128'000},
    {"max_processes_and_or_threads", &Amounts::max_processes_and_or_threads, 60, 0, 120, true,
     true},
    {"max_file_size", &Amounts::max_file_size, 1024, 0, 4096},
    // The original takes the average of several runs. We run a program once.
    {"number_of_runs", &Amounts::number_of_runs, 1, 0, 1, true, true},
};

// A number as the original writes it: "5.0" where it is no whole number by its nature.
std::string text_of(const AmountRule& rule, double value);

struct Asked {
  std::string source_code;
  std::optional<std::string> in, expected_output, compiler_options, command_line_arguments;
  std::optional<std::string> callback_url;
  std::optional<std::string> additional_files;  // as they came: base64 of a zip archive
  bool is_project = false;                      // they are the program
  int64_t language_id = 0;
  std::string language_name;
  Amounts amounts{};
  size_t bytes() const;  // that it holds, about
};

struct Ending {
  Status status = Status::kInternalError;
  std::optional<std::string> out = {}, err = {}, compile_output = {}, message = {};
  std::optional<int64_t> cpu_us = {}, wall_us = {}, memory_kb = {};
  std::optional<int> exit_code = {}, exit_signal = {};
  nlohmann::ordered_json facts = nullptr;  // the field `zygo`
  size_t bytes() const;
};

// Milliseconds since 1970.
int64_t wall_clock_ms();

struct Submission {
  std::string token;
  std::shared_ptr<const Asked> asked;
  Status status = Status::kInQueue;
  std::shared_ptr<const Ending> ending = nullptr;  // null: it has not ended
  int64_t created_ms = 0, finished_ms = 0;
};

}  // namespace service::judge0
