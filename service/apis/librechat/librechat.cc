#include "service/apis/librechat/librechat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/json/job/job_builder.h"
#include "runtime/values/utf8.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::librechat {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

struct Language {
  std::string_view name;
  std::string_view runtime;  // ours; empty: none of them
};
constexpr std::array kLanguages = std::to_array<Language>({
    {"py", "python"},
    {"js", "javascript"},
    {"ts", ""},
    {"c", "c"},
    {"cpp", "cpp"},
    {"java", "java"},
    {"php", "php"},
    {"rs", "rust"},
    {"go", "go"},
    {"d", ""},
    {"f90", ""},
    {"r", "r"},
    {"bash", "bash"},
});

const json* find_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_in(const json& object, const char* name) {
  const json* found = find_in(object, name);
  return found && found->is_string() ? found->get<std::string>() : "";
}

// Clients of earlier versions say session_id.
std::optional<FileRef> file_ref(const json& given) {
  if (!given.is_object()) return std::nullopt;
  FileRef ref{text_in(given, "storage_session_id"), text_in(given, "id"), text_in(given, "name")};
  if (ref.session.empty()) ref.session = text_in(given, "session_id");
  if (ref.session.empty() || ref.id.empty() || ref.name.empty()) return std::nullopt;
  return ref;
}

// Nothing: an objection.
std::optional<Response> place_files(const json& request, const Find& find, const Hold& hold,
                                    runtime::JobBuilder& job, Execution::Wish& wish) {
  const json* files = find_in(request, "files");
  if (!files) return std::nullopt;
  if (!files->is_array()) return refusal(400, "files: expected a list");
  for (const json& given : *files) {
    std::optional<FileRef> ref = file_ref(given);
    if (!ref) return refusal(400, "files: expected objects with id, name and storage_session_id");
    if (wish.given.contains(ref->name)) continue;  // the first of a name is the latest
    const StoredFilePtr stored = find(*ref);
    if (!stored) {
      wish.lost.push_back(ref->name);
      continue;
    }
    wish.given_bytes += stored->content.size();
    if (!hold(wish.given_bytes)) return unavailable("too many bytes are held already");
    job.file(ref->name, stored->content);
    std::string name = ref->name;
    wish.given.emplace(std::move(name), Execution::Wish::Given{std::move(*ref), stored});
  }
  return std::nullopt;
}

std::optional<std::string> read_arguments(const json& request, runtime::JobBuilder& job) {
  const json* args = find_in(request, "args");
  if (!args) return std::nullopt;
  std::vector<std::string> words;
  if (!args->is_array()) return "args: expected a list of texts";
  for (const json& word : *args) {
    if (!word.is_string()) return "args: expected a list of texts";
    words.push_back(word.get<std::string>());
  }
  job.argv(std::move(words));
  return std::nullopt;
}

ordered_json ref_json(const FileRef& ref) {
  return {{"id", ref.id},
          {"name", runtime::repaired_utf8(ref.name)},
          {"session_id", ref.session},
          {"storage_session_id", ref.session}};
}

// What a language puts beside the program's own files.
bool is_of_the_language(const runtime::InputFile& file, const Execution::Wish& wish) {
  return (file.path.starts_with("main.") && file.content == wish.source) ||
         file.path.ends_with(".class") || file.path.find("__pycache__/") != file.path.npos;
}

// Keeps what is new; one that came along unchanged stays the file that it was.
ordered_json files_of(const runtime::JobResult& result, const Execution::Wish& wish,
                      const std::string& session, const Keep& keep, std::string& err) {
  ordered_json files = ordered_json::array();
  size_t kept = 0;
  for (const runtime::InputFile& file : result.files.files) {
    if (is_of_the_language(file, wish)) continue;
    const auto given = wish.given.find(file.path);
    if (given != wish.given.end() && given->second.file->content == file.content) {
      ordered_json same = ref_json(given->second.ref);
      same["inherited"] = true;
      files.push_back(std::move(same));
    } else if (kept++ >= kMostKept) {
      if (kept == kMostKept + 1)
        err = with_line(std::move(err),
                        fmt::format("{} and more are not kept: a run may leave {} files", file.path,
                                    kMostKept));
    } else if (auto id = keep(file.path, file.content)) {
      files.push_back(ref_json({session, *id, file.path}));
    } else {
      err = with_line(std::move(err),
                      fmt::format("{} is not kept: {}", file.path, id.error().text()));
    }
  }
  for (const auto& refused : result.files.refused)
    if (!wish.given.contains(refused.path))
      err = with_line(std::move(err), fmt::format("{} is not kept: {}", refused.path, refused.why));
  return files;
}

}  // namespace

std::variant<Execution, Response> read_exec(std::string_view body, const Find& find,
                                            const Hold& hold,
                                            const runtime::JobDefaults& defaults) {
  const json request = parsed(body);
  if (!request.is_object()) return refusal(400, "the body is not a JSON object");
  const std::string name = text_in(request, "lang");
  const auto language = std::ranges::find(kLanguages, name, &Language::name);
  if (language == kLanguages.end())
    return refusal(400, fmt::format("lang: \"{}\" is not known", name));
  if (language->runtime.empty())
    return refusal(400, fmt::format("the language {} is not offered here", name));
  const json* code = find_in(request, "code");
  if (!code || !code->is_string()) return refusal(400, "code: expected a text");
  runtime::JobBuilder job(defaults);
  job.template_name(language->runtime == "python" ? python_template(defaults)
                                                  : std::string(language->runtime));
  Execution::Wish wish;
  wish.source = code->get<std::string>();
  job.source(wish.source);
  job.outputs({"**"});
  if (auto why = read_arguments(request, job)) return refusal(400, *why);
  if (auto refused = place_files(request, find, hold, job, wish)) return *std::move(refused);
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return refusal(400, read.error().text());
  // They are collected, too.
  constexpr uint64_t kMostOutputs = uint64_t{1} << 30;
  uint64_t& outputs = read->limits.outputs.count;
  outputs = std::max(outputs, std::min(outputs + wish.given_bytes, kMostOutputs));
  return Execution{std::move(read).value(), std::move(wish)};
}

Response exec_response(const runtime::JobResult& result, const Execution::Wish& wish,
                       const std::string& session, const Keep& keep) {
  const runtime::Verdict& verdict = result.verdict;
  if (verdict.outcome == runtime::Outcome::kBadJob) return refusal(400, why_of(verdict));
  if (is_not_the_programs(verdict)) return unavailable(why_of(verdict));
  std::string err = text_of(result.err);
  for (const std::string& name : wish.lost)
    err = with_line(std::move(err), fmt::format("{} is not kept here any more", name));
  if (verdict.by != runtime::By::kProgram) err = with_line(std::move(err), why_of(verdict));
  ordered_json files = files_of(result, wish, session, keep, err);
  const ordered_json answer = {{"session_id", session},
                               {"stdout", text_of(result.out)},
                               {"stderr", std::move(err)},
                               {"files", std::move(files)},
                               {"zygo", facts_of(result)}};
  return {.body = line_of(answer)};
}

Response upload_response(const std::string& session, const std::string& id, std::string_view name) {
  const ordered_json file = {{"fileId", id}, {"filename", name}};
  return {.body = line_of({{"message", "success"},
                           {"session_id", session},
                           {"storage_session_id", session},
                           {"files", ordered_json::array({file})}})};
}

Response files_response(const std::vector<FileRef>& files, std::string_view detail) {
  const bool is_full = detail == kFullDetail;
  if (!is_full && detail != "normalized")
    return refusal(501, "detail: only full and normalized are offered here");
  ordered_json told = ordered_json::array();
  for (const FileRef& file : files) {
    told.push_back(is_full ? ordered_json{{"name", fmt::format("{}/{}", file.session, file.id)},
                                          {"metadata", {{"original-filename", file.name}}}}
                           : ref_json(file));
  }
  return {.body = line_of(told)};
}

Response refusal(int status, std::string_view why) {
  return {.status = status, .body = line_of({{"error", why}})};
}

Response unavailable(std::string_view why) { return refusal(503, why); }

FileRef file_at(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == path.npos || path.find('/', slash + 1) != path.npos) return {};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1)), ""};
}

}  // namespace service::librechat
