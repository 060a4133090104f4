#include "service/apis/open_r1/open_r1.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/json/job/job_builder.h"
#include "service/apis/notebook.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::open_r1 {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// As a number for the client of Morph's router, for which a text that is none is a reward of 0.
constexpr std::string_view kNoReward = "nan";

Response refusal(std::string_view why) {
  return {.status = 422, .body = line_of({{"detail", why}})};
}

std::optional<std::vector<std::string>> texts(const json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end() || !found->is_array()) return std::nullopt;
  std::vector<std::string> list;
  for (const json& one : *found) {
    if (!one.is_string()) return std::nullopt;
    list.push_back(one.get<std::string>());
  }
  return list;
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json& list_in(const json& object, const char* name) {
  static const json kNone = json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : kNone;
}

std::string element(ordered_json execution, ordered_json text, ordered_json exception,
                    ordered_json facts) {
  const ordered_json made = {{"execution", std::move(execution)},
                             {"text", std::move(text)},
                             {"exception_str", std::move(exception)},
                             {"zygo", std::move(facts)}};
  return made.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// In E2B's words. Of what was shown only the text is told.
ordered_json results_of(const json& cell) {
  const json& shown = list_in(cell, "display");
  ordered_json results = ordered_json::array();
  const bool has_main = cell.value("main", json(false)) == true;
  for (const json& one : shown) {
    results.push_back({{"text", text_in(one, "text/plain")},
                       {"is_main_result", has_main && &one == &shown.back()}});
  }
  return results;
}

ordered_json lines_of(std::string text) {
  ordered_json list = ordered_json::array();
  if (!text.empty()) list.push_back(std::move(text));
  return list;
}

ordered_json error_of(const json& cell) {
  const json& errors = list_in(cell, "error");
  if (errors.empty()) return nullptr;
  std::string trace;
  for (const json& line : list_in(errors.front(), "traceback"))
    trace += (line.is_string() ? line.get<std::string>() : "") + "\n";
  return {{"name", text_in(errors.front(), "ename")},
          {"value", text_in(errors.front(), "evalue")},
          {"traceback", std::move(trace)}};
}

// In Morph's words: the value, or else what was printed.
std::string text_of_cell(const json& cell, const ordered_json& results) {
  if (!results.empty() && results.back().at("is_main_result") == true)
    return results.back().at("text");
  return text_in(cell, "stdout");
}

}  // namespace

std::variant<Batch, Response> read_batch(std::string_view body) {
  const json request = parsed(body);
  if (!request.is_object()) return refusal("the body is not a JSON object");
  auto scripts = texts(request, "scripts"), languages = texts(request, "languages");
  if (!scripts) return refusal("scripts: expected a list of texts");
  if (!languages) return refusal("languages: expected a list of texts");
  if (scripts->size() != languages->size())
    return refusal("languages: expected as many as there are scripts");
  if (scripts->size() > kMostScripts)
    return refusal(fmt::format("scripts: at most {} in one request", kMostScripts));
  const auto timeout = request.find("timeout");
  const double seconds =
      timeout != request.end() && timeout->is_number() ? timeout->get<double>() : 0;
  if (!std::isfinite(seconds) || seconds <= 0)
    return refusal("timeout: expected a number of seconds above 0");
  return Batch{std::move(*scripts), std::move(*languages), seconds};
}

std::variant<runtime::Job, std::string> job_of(Batch& batch, size_t index,
                                               const runtime::JobDefaults& defaults) {
  const std::string& language = batch.languages.at(index);
  if (language != "python")
    return fmt::format("language \"{}\" is not offered here, only python", language);
  runtime::JobBuilder job(defaults);
  job.source(std::string(notebook_source()));
  job.template_name(python_template(defaults));
  job.calls("run_script", {std::move(batch.scripts.at(index))});
  constexpr double kMostSeconds = static_cast<double>(runtime::kDayMs) / 1000;
  const auto milliseconds =
      static_cast<int64_t>(std::ceil(std::min(batch.seconds, kMostSeconds) * 1000));
  for (const char* limit : {"wall_ms", "cpu_ms"}) job.limit(limit, milliseconds);
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return read.error().text();
  // The script judges programs that it starts: what is refused to one of them decides no more than
  // how that one ends.
  read->policy.profile = sandbox::Profile::kSubprocess;
  read->policy.has_profile = true;
  read->policy.refusals = runtime::Refusals::kOverlooked;
  return std::move(read).value();
}

std::string element_of(const runtime::JobResult& result) {
  const std::string why = why_of(result.verdict);
  if (is_not_the_programs(result.verdict))
    return element(nullptr, kNoReward, why, facts_of(result));
  const json cells = cells_of(result);
  if (!ended_well(result.verdict) || cells.size() != 1 || !cells.front().is_object())
    return element(nullptr, "", why, facts_of(result));
  const json& cell = cells.front();
  ordered_json results = results_of(cell), error = error_of(cell);
  const bool failed = !error.is_null();
  ordered_json exception = nullptr;
  std::string text;
  if (failed) {
    std::string words = fmt::format("{}: {}", error.at("name").get_ref<const std::string&>(),
                                    error.at("value").get_ref<const std::string&>());
    text = words.substr(0, words.find('\n'));  // never a line that could be a reward
    exception = std::move(words);
  } else {
    text = text_of_cell(cell, results);
  }
  ordered_json execution = {{"results", std::move(results)},
                            {"logs",
                             {{"stdout", lines_of(text_in(cell, "stdout"))},
                              {"stderr", lines_of(text_in(cell, "stderr"))}}},
                            {"error", std::move(error)},
                            {"execution_count", 1}};
  return element(std::move(execution), std::move(text), std::move(exception), facts_of(result));
}

std::string element_without_result(std::string_view why) {
  return element(nullptr, kNoReward, why, nullptr);
}

}  // namespace service::open_r1
