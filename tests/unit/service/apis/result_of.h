#pragma once
// A JobResult from the fields of its JSON that a test gives; the rest is as in no result at all.

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/job/result.h"
#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"

namespace service {

using nlohmann::json;

inline runtime::Outcome outcome_named(const std::string& label) {
  for (int i = 0; i <= static_cast<int>(runtime::Outcome::kSandboxError); ++i) {
    const auto outcome = static_cast<runtime::Outcome>(i);
    if (outcome != runtime::Outcome::kException && name_of(outcome) == label) return outcome;
  }
  return runtime::Outcome::kException;
}

inline runtime::By by_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(runtime::By::kSandbox); ++i) {
    if (name_of(static_cast<runtime::By>(i)) == name) return static_cast<runtime::By>(i);
  }
  throw std::invalid_argument(name);
}

inline runtime::Verdict verdict_of(const json& ours) {
  runtime::Verdict verdict;
  verdict.outcome = outcome_named(ours.at("label"));
  if (verdict.outcome == runtime::Outcome::kException) verdict.exception_type = ours.at("label");
  verdict.by = by_named(ours.at("by"));
  for (const auto& [key, value] : ours.at("detail").items())
    verdict.detail.emplace_back(key, value.get<std::string>());
  return verdict;
}

inline std::optional<runtime::ExitStatus> exit_of(const json& exit) {
  if (exit.at("signal").is_string())
    return runtime::ExitStatus{true,
                               runtime::signal_number(exit["signal"].get<std::string>()).value()};
  if (exit.at("code").is_number()) return runtime::ExitStatus{false, exit["code"]};
  return std::nullopt;
}

inline runtime::Usage usage_in(const json& ours) {
  const json usage = ours.value("usage", json::object());
  runtime::Usage made;
  made.wall_us = usage.value("wall_ms", int64_t{0}) * 1000;
  made.cpu_us = usage.value("cpu_ms", int64_t{0}) * 1000;
  made.memory_peak_bytes = usage.value("memory_peak_kb", int64_t{0}) * 1024;
  return made;
}

// Reads the fields that results and tests have alike.
template <class Run>
void read_run(const json& ours, Run& into) {
  into.verdict = verdict_of(ours);
  into.exit = exit_of(ours.at("exit"));
  into.out.bytes = ours.at("stdout").at("text");
  into.err.bytes = ours.at("stderr").at("text");
  into.usage = usage_in(ours);
}

inline runtime::InputFile output_of(const std::string& path, const json& file) {
  runtime::InputFile made{path, file.value("text", ""), false};
  if (file.contains("b64"))
    runtime::append_from_base64(file["b64"].get<std::string>(), made.content);
  return made;
}

inline runtime::JobResult result_of(const json& ours) {
  runtime::JobResult result;
  read_run(ours, result);
  result.id = ours.value("id", "");
  result.tag = ours.value("tag", json()).dump();
  result.template_id = ours.value("template", "");
  if (ours.contains("level")) result.level = sandbox::Level::kFull;
  if (ours.contains("compile"))
    result.compile =
        runtime::CompileReport{false, ours["compile"]["wall_ms"].get<int64_t>() * 1000};
  for (const json& test : ours.value("tests", json::array()))
    read_run(test, result.tests.emplace_back());
  const json outputs = ours.value("outputs", json::object());
  for (const auto& [path, file] : outputs.items())
    result.files.files.push_back(output_of(path, file));
  return result;
}

}  // namespace service
