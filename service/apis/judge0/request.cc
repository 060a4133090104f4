#include "service/apis/judge0/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "images/archive/zip.h"
#include "runtime/json/job/job_builder.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::judge0 {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t kLongestOptions = 512;  // characters, as in the original
constexpr const char* kNotEnabled = "this option cannot be enabled";

const json* find_in(const json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Lines of any length, with or without padding, as encoders of MIME and of the web write them.
std::optional<std::string> from_base64(std::string text) {
  std::erase_if(text, [](char each) { return each == '\n' || each == '\r' || each == ' '; });
  while (text.ends_with('=')) text.pop_back();
  constexpr size_t kGroup = 4;
  if (text.size() % kGroup == 1) return std::nullopt;
  text.append((kGroup - text.size() % kGroup) % kGroup, '=');
  std::string bytes;
  if (!runtime::append_from_base64(text, bytes)) return std::nullopt;
  return bytes;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == text.npos; }

// The fields of one submission. All objections are collected, as by the original.
class Reader {
 public:
  Reader(const json& from, Encoding encoding) : from_(from), encoding_(encoding) {}

  void refuse(std::string_view name, std::string why) {
    objections_[std::string(name)].push_back(std::move(why));
  }
  const Objections& objections() const { return objections_; }

  // A number counts as its text.
  std::optional<std::string> text(const char* name) {
    const json* found = find_in(from_, name);
    if (!found) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number()) return found->dump();
    refuse(name, "is not a text");
    return std::nullopt;
  }

  // One that says no more than nothing, as clients may, is none.
  std::optional<std::string> text_if_set(const char* name) {
    const json* found = find_in(from_, name);
    if (!found || *found == false || *found == 0 || *found == "") return std::nullopt;
    return text(name);
  }

  // One that may be in base64.
  std::optional<std::string> bytes(const char* name) {
    std::optional<std::string> given = text(name);
    if (!given || encoding_ == Encoding::kPlain) return given;
    std::optional<std::string> decoded = from_base64(*std::move(given));
    if (!decoded) refuse(name, "is not base64");
    return decoded;
  }

  std::optional<double> number(std::string_view name) {
    const json* found = find_in(from_, name);
    if (!found) return std::nullopt;
    if (found->is_number()) return found->get<double>();
    double value = NAN;
    if (found->is_string()) {
      const auto& written = found->get_ref<const std::string&>();
      const char* end = written.data() + written.size();
      if (std::from_chars(written.data(), end, value).ptr != end) value = NAN;
    }
    if (std::isfinite(value)) return value;
    refuse(name, "is not a number");
    return std::nullopt;
  }

  double amount(const AmountRule& rule) {
    const double given = number(rule.name).value_or(rule.usual);
    const double value = rule.is_whole ? std::trunc(given) : given;
    if (rule.above_least ? value <= rule.least : value < rule.least) {
      refuse(rule.name, fmt::format("must be greater than {}{:.0f}",
                                    rule.above_least ? "" : "or equal to ", rule.least));
    } else if (value > rule.most) {
      refuse(rule.name, "must be less than or equal to " + text_of(rule, rule.most));
    } else {
      return value;
    }
    return rule.usual;
  }

  // What is not offered may be told not to be wanted.
  void refuse_if_set(const char* name, const char* why) {
    const json* found = find_in(from_, name);
    if (!found || *found == false || *found == 0 || *found == "" || *found == "false") return;
    if (*found != "0") refuse(name, why);
  }

 private:
  const json& from_;
  const Encoding encoding_;
  Objections objections_ = Objections::object();
};

void refuse_what_is_not_offered(Reader& reader) {
  reader.refuse_if_set("enable_per_process_and_thread_time_limit", kNotEnabled);
  reader.refuse_if_set("enable_per_process_and_thread_memory_limit", kNotEnabled);
  reader.refuse_if_set("redirect_stderr_to_stdout", kNotEnabled);
  reader.refuse_if_set("enable_network", "enabling network is not allowed");
}

std::optional<std::string> callback_in(Reader& reader, const Callbacks::Check& callbacks) {
  constexpr const char* kName = "callback_url";
  if (!callbacks) {
    reader.refuse_if_set(kName, "setting callback is not allowed");
    return std::nullopt;
  }
  std::optional<std::string> url = reader.text_if_set(kName);
  if (!url) return std::nullopt;
  if (const auto checked = callbacks(*url); !checked) reader.refuse(kName, checked.error().text());
  return url;
}

const Language* language_of(Reader& reader, const std::vector<Language>& languages) {
  const std::optional<double> id = reader.number("language_id");
  if (!id) {
    if (!reader.objections().contains("language_id"))
      reader.refuse("language_id", "can't be blank");
    return nullptr;
  }
  constexpr double kMost = 1e9;
  const auto number = static_cast<int64_t>(std::clamp(*id, -kMost, kMost));
  const Language* language = find_language(languages, number);
  if (!language)
    reader.refuse("language_id", fmt::format("language with id {:.0f} doesn't exist", *id));
  return language;
}

void check_length(const char* name, const std::optional<std::string>& text, Reader& reader) {
  if (text && text->size() > kLongestOptions)
    reader.refuse(name, fmt::format("is too long (maximum is {} characters)", kLongestOptions));
}

using Files = std::vector<images::ZipMember>;

// Always in base64, as there.
Files files_in(const Asked& asked, const Offered& offered, Reader& reader) {
  constexpr const char* kName = "additional_files";
  if (!asked.additional_files) return {};
  const std::optional<std::string> archive = from_base64(*asked.additional_files);
  if (!archive) {
    reader.refuse(kName, "is not base64");
    return {};
  }
  auto files = images::read_zip(
      *archive, {.bytes = kMostExtracted, .members = kMostFiles, .room = offered.room});
  if (!files) {
    reader.refuse(kName, files.error().text());
    return {};
  }
  const auto is_name = [](const auto& file) { return runtime::is_utf8(file.path); };
  if (!std::ranges::all_of(*files, is_name)) reader.refuse(kName, "has a name that is not UTF-8");
  return std::move(files).value();
}

void check_texts(const Asked& asked, const Language* language, Reader& reader) {
  if (language && language->is_project) {
    if (!is_blank(asked.source_code)) reader.refuse("source_code", "must be blank");
    if (!asked.additional_files && !reader.objections().contains("additional_files"))
      reader.refuse("additional_files", "can't be blank");
  } else if (is_blank(asked.source_code) && !reader.objections().contains("source_code")) {
    reader.refuse("source_code", "can't be blank");
  } else if ((!language || language->script.empty()) && !runtime::is_utf8(asked.source_code)) {
    reader.refuse("source_code", "is not UTF-8");
  }
  check_length("compiler_options", asked.compiler_options, reader);
  check_length("command_line_arguments", asked.command_line_arguments, reader);
  const bool has_options = asked.compiler_options && !is_blank(*asked.compiler_options);
  if (has_options && language && !language->is_compiled)
    reader.refuse("compiler_options",
                  "setting compiler options is only allowed for compiled languages");
}

sys::Milliseconds milliseconds_of(double seconds) {
  return sys::Milliseconds(std::max<int64_t>(1, std::llround(std::ceil(seconds * 1000))));
}

sys::Bytes kilobytes_of(double amount) { return sys::kibibytes(static_cast<uint64_t>(amount)); }

// In the original the time beyond the limit only tells how much a program would have taken.
void set_limits(const Amounts& amounts, const Language& language, runtime::Limits& limits) {
  const double cpu = amounts.cpu_time_limit;
  limits.cpu =
      cpu > 0 ? milliseconds_of(cpu + amounts.cpu_extra_time) : sys::Milliseconds(runtime::kDayMs);
  limits.wall = milliseconds_of(amounts.wall_time_limit);
  constexpr const auto& kMemory = runtime::limit_named("memory_mb");
  constexpr uint64_t kLeastMemory = uint64_t{kMemory.min} << 20;
  const uint64_t least = std::max(kLeastMemory, language.least_memory.count);
  limits.memory.count = std::max(kilobytes_of(amounts.memory_limit).count, least);
  if (language.has_stack)
    limits.stack.count = std::min(kilobytes_of(amounts.stack_limit).count, limits.memory.count);
  limits.pids = static_cast<uint32_t>(amounts.max_processes_and_or_threads);
  if (amounts.max_file_size < 1) return;
  // There, the streams are files.
  limits.file = limits.out = limits.err = kilobytes_of(amounts.max_file_size);
}

// There, additional files are extracted under a limit of their own.
void make_room_for(const std::vector<runtime::InputFile>& files, runtime::Limits& limits) {
  if (limits.file.count == 0) return;
  for (const runtime::InputFile& file : files)
    limits.file.count = std::max<uint64_t>(limits.file.count, file.content.size());
}

sys::Result<runtime::Job> job_of(const Asked& asked, const Language& language, Files files,
                                 const runtime::JobDefaults& defaults) {
  runtime::JobBuilder job(defaults);
  job.template_name(language.template_name == "python" ? python_template(defaults)
                                                       : language.template_name);
  job.source(language.script.empty() ? asked.source_code : std::string(language.script));
  if (!language.file.empty()) job.file(std::string(language.file), asked.source_code);
  for (images::ZipMember& file : files) {
    if (file.path != language.file)  // the source comes first, as there
      job.file(std::move(file.path), std::move(file.content), true);
  }
  if (language.is_project) job.outputs({std::string(kCompileOutput), std::string(kCompileFailed)});
  job.stdin_bytes(asked.in.value_or(""));
  job.argv(words_in(asked.command_line_arguments.value_or("")));
  std::vector<std::string> flags = language.flags;
  for (std::string& word : words_in(asked.compiler_options.value_or("")))
    flags.push_back(std::move(word));
  if (!flags.empty()) job.compiler_flags(std::move(flags));
  runtime::Job made = TRY(std::move(job).finish());
  set_limits(asked.amounts, language, made.limits);
  make_room_for(made.files, made.limits);
  return made;
}

ReadSubmission read_submission(const json& from, Encoding encoding,
                               const std::vector<Language>& languages,
                               const runtime::JobDefaults& defaults, const Offered& offered) {
  Reader reader(from, encoding);
  Asked asked;
  asked.source_code = reader.bytes("source_code").value_or("");
  asked.in = reader.bytes("stdin");
  asked.expected_output = reader.bytes("expected_output");
  asked.compiler_options = reader.text("compiler_options");
  asked.command_line_arguments = reader.text("command_line_arguments");
  asked.callback_url = callback_in(reader, offered.callbacks);
  asked.additional_files = reader.text_if_set("additional_files");
  Files files = files_in(asked, offered, reader);
  const Language* language = language_of(reader, languages);
  check_texts(asked, language, reader);
  for (const AmountRule& rule : kAmounts) asked.amounts.*rule.member = reader.amount(rule);
  refuse_what_is_not_offered(reader);
  if (!reader.objections().empty()) return reader.objections();
  asked.language_id = language->id;
  asked.language_name = language->name;
  asked.is_project = language->is_project;
  sys::Result<runtime::Job> job = job_of(asked, *language, std::move(files), defaults);
  if (!job) {
    const std::string why = job.error().text();
    const char* field = why.starts_with("files") ? "additional_files" : "base";
    return Objections{{field, ordered_json::array({why})}};
  }
  return NewSubmission{std::move(job).value(), std::move(asked)};
}

}  // namespace

// JSON writes a letter as itself or as \u and four digits (RFC 8259, 7).
bool may_have_files(std::string_view body) {
  return body.find("additional_files") != body.npos || body.find("\\u") != body.npos;
}

std::variant<ReadSubmission, Response> read_create(std::string_view body, Encoding encoding,
                                                   const std::vector<Language>& languages,
                                                   const runtime::JobDefaults& defaults,
                                                   const Offered& offered) {
  const json from = parsed(body);
  if (!from.is_object()) return refusal(400, "the body is not a JSON object");
  return read_submission(from, encoding, languages, defaults, offered);
}

std::variant<std::vector<ReadSubmission>, Response> read_batch(
    std::string_view body, Encoding encoding, const std::vector<Language>& languages,
    const runtime::JobDefaults& defaults, const Offered& offered) {
  const json from = parsed(body);
  if (!from.is_object()) return refusal(400, "the body is not a JSON object");
  const json* list = find_in(from, "submissions");
  if (list && !list->is_array()) return refusal(400, "submissions: expected a list");
  if (auto refused = objection_to_batch(list ? list->size() : 0)) return *std::move(refused);
  std::vector<ReadSubmission> batch;
  for (const json& one : *list) {
    if (!one.is_object()) return refusal(400, "submissions: expected a list of objects");
    batch.push_back(read_submission(one, encoding, languages, defaults, offered));
  }
  return batch;
}

std::optional<Response> objection_to_batch(size_t size) {
  if (size == 0) return refusal(400, "there should be at least one submission in a batch");
  if (size <= kMostInBatch) return std::nullopt;
  return refusal(400, fmt::format("number of submissions in a batch should be less than or equal "
                                  "to {}",
                                  kMostInBatch));
}

Response refusal(int status, std::string_view why) {
  return {.status = status, .body = line_of({{"error", why}})};
}

Response objections_response(const Objections& objections) {
  return {.status = 422, .body = line_of(objections)};
}

}  // namespace service::judge0
