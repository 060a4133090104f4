#include "service/apis/sandbox_fusion/submit.h"

#include <fmt/format.h>

#include "runtime/values/utf8.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"
#include "service/apis/sandbox_fusion/completion_code.h"
#include "service/apis/sandbox_fusion/parts.h"

namespace service::sandbox_fusion {

struct SubmittedCases {
  json id;
  std::string code;
  std::vector<json> cases;  // {"input": {..}, "output": {..}}
  bool every = false;       // are run, also when one has failed
  bool whole = false;       // in the answer, also when they are long and have passed
};

namespace {

constexpr std::string_view kDatasetClass = "CommonOJDataset";
// The data set that the original has of this class. Others are told by their class alone.
constexpr std::string_view kDataset = "code_contests";
// The original, too, has more patience with interpreters than with what was compiled.
constexpr double kUsualOfInterpreters = 20;
constexpr double kTolerance = 1e-5;
// The bound of all outputs together, beyond 4 KiB of each.
constexpr sys::Bytes kOutputs = sys::mebibytes(16);
constexpr int kDeepest = 8;  // config.provided_data.test[0].input.stdin

struct Config {
  std::string dataset_type;
  const Language* language = nullptr;
  bool has_language = false;
  std::optional<double> run_seconds;
  json data;  // null: none
  bool has_logic = false;
  bool every = false, whole = false;
};

bool is_meant(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return false;
  return found->is_number() ? *found != 0
                            : *found != json() && *found != json(false) && !found->empty();
}

Config read_config(Fields& request, Complaints& complaints) {
  Config config;
  if (!request.has("config")) request.complain("missing", "config", "Field required");
  const json* object = request.find("config");
  if (!object || !object->is_object()) {
    if (request.has("config"))
      request.complain("model_attributes_type", "config", "Input should be a valid dictionary");
    return config;
  }
  Fields fields(*object, complaints, {"config"});
  config.dataset_type = fields.text("dataset_type", false);
  config.has_language = fields.find("language") != nullptr;
  if (config.has_language) config.language = fields.language("language", nullptr);
  fields.seconds_or_none("compile_timeout");  // a runtime's own limit holds
  config.run_seconds = fields.seconds_or_none("run_timeout");
  config.has_logic = !fields.text("custom_extract_logic", false).empty();
  if (const json* data = fields.find("provided_data")) {
    config.data = *data;
    if (!data->is_structured())
      fields.complain("dict_type", "provided_data", "Input should be a valid dictionary");
  }
  if (const json* extra = fields.find("extra")) {
    if (!extra->is_object())
      fields.complain("dict_type", "extra", "Input should be a valid dictionary");
    config.every = is_meant(*extra, "run_all_cases");
    config.whole = is_meant(*extra, "return_full_case");
  }
  return config;
}

json read_id(Fields& request) {
  const json* id = request.find("id");
  if (id && (id->is_string() || id->is_number_integer())) return *id;
  request.complain(
      request.has("id") ? "int_type" : "missing", "id",
      request.has("id") ? "Input should be a valid integer or string" : "Field required");
  return nullptr;
}

// Why nothing of it can be judged here; empty: nothing.
std::string objection(const std::string& dataset, const Config& config) {
  if (dataset != kDataset && config.dataset_type.empty())
    return "no eval class found for dataset " + dataset;
  if (dataset != kDataset && config.dataset_type != kDatasetClass)
    return fmt::format("eval class {} not found", config.dataset_type);
  if (!config.has_language)
    return fmt::format("config.language field must exist for {}, got None", kDatasetClass);
  if (config.has_logic) return "config.custom_extract_logic is not offered here";
  if (config.data.empty())
    return fmt::format("no data of {} is kept here: config.provided_data must bring it", dataset);
  if (!config.data.is_object())
    return "request.config.provided_data should be a dict with str -> str | int";
  return "";
}

// JSON whose strings may hold control characters as they are, such as the ends of lines.
std::string with_escapes(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && static_cast<unsigned char>(c) < ' ') {
      made += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    made += c;
    if (quoted && c == '\\' && i + 1 < text.size()) made += text[++i];
  }
  return made;
}

bool is_object_of_texts(const json& object, const char* part, const char* stream) {
  const auto found = object.find(part);
  if (found == object.end() || !found->is_object() || !found->contains(stream)) return false;
  for (const json& text : *found) {
    if (!text.is_string()) return false;
  }
  return true;
}

// Empty, and `wrong` says why, if they are none.
std::vector<json> read_cases(const json& data, std::string& wrong) {
  std::vector<json> cases;
  const auto given = data.find("test");
  json list = given == data.end() ? json() : *given;
  if (list.is_string()) list = parsed(with_escapes(list.get_ref<const std::string&>()), kDeepest);
  if (!list.is_array()) {
    wrong = "provided_data.test: expected a list of cases";
    return cases;
  }
  for (size_t i = 0; i < list.size() && wrong.empty(); ++i) {
    const json& one = list[i];
    if (!one.is_object() || !is_object_of_texts(one, "input", "stdin") ||
        !is_object_of_texts(one, "output", "stdout")) {
      wrong = fmt::format("provided_data.test[{}]: expected input.stdin and output.stdout", i);
    } else {
      cases.push_back({{"input", one.at("input")}, {"output", one.at("output")}});
    }
  }
  return cases;
}

runtime::JobBuilder job_of(const Config& config, const SubmittedCases& submitted,
                           const runtime::JobDefaults& defaults) {
  const bool compiles = config.language->name == "cpp" || config.language->name == "go" ||
                        config.language->name == "java";
  runtime::JobBuilder job(defaults);
  job.source(source_of(*config.language, submitted.code));
  job.template_name(template_of(*config.language, defaults));
  Fields::limit_time(job,
                     config.run_seconds.value_or(compiles ? kUsualSeconds : kUsualOfInterpreters));
  job.stop_at_failure(!submitted.every);
  for (const json& one : submitted.cases)
    job.test(one.at("input").at("stdin"), one.at("output").at("stdout"));
  return job;
}

// Long texts by both their ends, which is enough to know a case that has passed.
std::string shortened(const std::string& text) {
  constexpr size_t kLongest = 1000, kEnd = 498;
  if (text.size() <= kLongest) return text;
  return std::string(runtime::utf8_head(text, kEnd)) + "..." +
         std::string(runtime::utf8_tail(text, kEnd));
}

json shortened_case(json one) {
  for (const char* part : {"input", "output"}) {
    for (json& text : one[part]) text = shortened(text.get_ref<const std::string&>());
  }
  return one;
}

Response answer(const SubmittedCases& submitted, bool accepted, ordered_json tests,
                ordered_json ours) {
  ordered_json body = {
      {"id", submitted.id},        {"accepted", accepted}, {"extracted_code", submitted.code},
      {"full_code", nullptr},      {"test_code", nullptr}, {"tests", std::move(tests)},
      {"extracted_type", nullptr}, {"extra", nullptr}};
  if (!ours.is_null()) body["zygo"] = std::move(ours);
  return {.body = line_of(body)};
}

Response failure(const Ran& ran) {
  return detail_response(500, "Failed to check stdio test case: " + account_of(ran).message);
}

// All cases end as the whole did: it could not be compiled.
ordered_json tests_alike(const SubmittedCases& submitted, const runtime::JobResult& result) {
  ordered_json tests = ordered_json::array();
  for (const json& one : submitted.cases) {
    tests.push_back(
        {{"passed", false}, {"exec_info", run_code_answer(result)}, {"test_info", one}});
    if (!submitted.every) break;
  }
  return tests;
}

}  // namespace

std::variant<Submission, Response> read_submit(std::string_view body,
                                               const runtime::JobDefaults& defaults) {
  Complaints complaints;
  const std::optional<json> request = read_object(body, complaints, kDeepest);
  if (!request) return complaints.response();
  Fields fields(*request, complaints);
  auto submitted = std::make_shared<SubmittedCases>();
  const std::string dataset = fields.text("dataset", true);
  submitted->id = read_id(fields);
  const std::string completion = fields.text("completion", true);
  const Config config = read_config(fields, complaints);
  if (!complaints.empty()) return complaints.response();
  if (const std::string why = objection(dataset, config); !why.empty())
    return detail_response(400, why);
  std::string wrong;
  submitted->cases = read_cases(config.data, wrong);
  if (!wrong.empty()) return detail_response(400, wrong);
  if (config.language->runtime.empty()) return not_offered(*config.language);
  submitted->code = code_of_completion(completion, config.language->name);
  submitted->every = config.every;
  submitted->whole = config.whole;
  if (submitted->cases.empty()) return answer(*submitted, true, ordered_json::array(), nullptr);
  auto job = job_of(config, *submitted, defaults).finish();
  if (!job) return detail_response(400, job.error().text());
  for (runtime::TestCase& test : job->tests) {
    test.comparator = runtime::Comparator::kAlike;
    test.tolerance = kTolerance;
  }
  job->tests_output = kOutputs;
  return Submission{std::move(job).value(), std::move(submitted)};
}

Response submit_response(const runtime::JobResult& result, const SubmittedCases& submitted) {
  if (is_not_the_programs(result.verdict)) return failure(ran_of(result));
  if (result.verdict.outcome == runtime::Outcome::kCompilationError)
    return answer(submitted, false, tests_alike(submitted, result), our_facts(result));
  ordered_json tests = ordered_json::array();
  bool accepted = true;
  for (size_t i = 0; i < submitted.cases.size() && (accepted || submitted.every); ++i) {
    const runtime::TestResult& test = result.tests.at(i);
    if (test.skipped) {
      accepted = false;  // by nobody's judgement
      break;
    }
    if (is_not_the_programs(test.verdict)) return failure(ran_of(test, result.compile));
    const bool passed = test.verdict.ok();
    accepted = accepted && passed;
    json info =
        passed && !submitted.whole ? shortened_case(submitted.cases[i]) : submitted.cases[i];
    tests.push_back({{"passed", passed},
                     {"exec_info", run_code_answer(test, result.compile)},
                     {"test_info", std::move(info)}});
  }
  return answer(submitted, accepted, std::move(tests), our_facts(result));
}

}  // namespace service::sandbox_fusion
