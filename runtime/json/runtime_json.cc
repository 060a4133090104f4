#include "runtime/json/runtime_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "images/sha256.h"
#include "sandbox/sys/file.h"

namespace runtime {

using nlohmann::json;
using sys::Error;
using sys::Result;

namespace {

constexpr size_t kLargestFile = 1 << 20;

// Reads one object, field by field; the first that is wrong is told.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void text(const char* name, std::string& into, bool required = false) {
    const json* field = find(name, required);
    if (!field) return;
    if (!field->is_string()) return wrong(name, "a string");
    into = field->get<std::string>();
    if (required && into.empty()) wrong(name, "a string that is not empty");
  }

  void texts(const char* name, std::vector<std::string>& into, bool required = false) {
    const json* field = find(name, required);
    if (!field) return;
    const bool good = field->is_array() && std::all_of(field->begin(), field->end(), [](auto& v) {
                        return v.is_string() && !v.template get_ref<const std::string&>().empty();
                      });
    if (!good) return wrong(name, "a list of strings");
    into = field->get<std::vector<std::string>>();
    if (required && into.empty()) wrong(name, "a list that is not empty");
  }

  void environment(const char* name, std::vector<std::pair<std::string, std::string>>& into) {
    const json* field = find(name, false);
    if (!field) return;
    if (!field->is_object()) return wrong(name, "an object of strings");
    for (const auto& [key, value] : field->items()) {
      if (!value.is_string() || key.empty() || key.find('=') != key.npos)
        return wrong(name, "an object of strings");
      into.emplace_back(key, value.get<std::string>());
    }
  }

  void profile(const char* name, sandbox::Profile& into) {
    std::string word;
    text(name, word);
    if (word.empty()) return;
    if (auto known = sandbox::profile_named(word)) {
      into = *known;
    } else {
      wrong(name, "pure, default, subprocess or build");
    }
  }

  void start(const char* name, bool& warm) {
    std::string word = "exec";
    text(name, word);
    warm = word == "warm";
    if (!warm && word != "exec") wrong(name, "warm or exec");
  }

  void main_class(const char* name, bool& into) {
    std::string word;
    text(name, word);
    into = word == "java";
    if (!word.empty() && !into) wrong(name, "java");
  }

  void flag(const char* name, bool& into) {
    const json* field = find(name, false);
    if (!field) return;
    if (!field->is_boolean()) return wrong(name, "true or false");
    into = field->get<bool>();
  }

  void counts(const char* name, std::vector<std::pair<std::string, uint32_t>>& into) {
    const json* field = find(name, false);
    if (!field) return;
    constexpr int64_t kMost = 100;
    if (!field->is_object()) return wrong(name, "an object of numbers");
    for (const auto& [key, value] : field->items()) {
      if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > kMost)
        return wrong(name, "an object of numbers from 1 to 100");
      into.emplace_back(key, value.get<uint32_t>());
    }
  }

  template <typename Set>
  void number(const char* name, Set set) {
    const json* field = find(name, false);
    if (!field) return;
    constexpr int64_t kMost = int64_t{1} << 30;
    if (!field->is_number_integer() || field->get<int64_t>() < 1 || field->get<int64_t>() > kMost)
      return wrong(name, "a positive integer");
    set(field->get<int64_t>());
  }

  const json* object(const char* name) {
    const json* field = find(name, false);
    if (field && !field->is_object()) wrong(name, "an object");
    return field && field->is_object() ? field : nullptr;
  }

  void fail(const std::string& message) {
    if (error_.empty()) error_ = where_ + ": " + message;
  }

  // All fields have been asked for.
  std::string finish() {
    for (const auto& [key, value] : object_.items()) {
      if (!known_.contains(key)) fail("unknown field " + key);
    }
    return error_;
  }

 private:
  const json* find(const char* name, bool required) {
    known_.insert(name);
    auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    if (required) fail(std::string(name) + ": required");
    return nullptr;
  }
  void wrong(const char* name, const std::string& expected) {
    fail(std::string(name) + ": expected " + expected);
  }

  const json& object_;
  std::string where_, error_;
  std::set<std::string> known_;
};

std::string read_limits(const json& object, const std::string& where, Limits& limits) {
  Fields fields(object, where);
  for (const LimitRule& rule : kLimits) {
    if (!rule.of_compilers) continue;
    fields.number(std::string(rule.name()).c_str(), [&](int64_t n) { rule.set(limits, n); });
  }
  return fields.finish();
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == name.npos;
}

// The objection that no single field can show; empty: none.
std::string objection(const RuntimeSpec& spec) {
  if (!is_plain_name(spec.file)) return "file: expected the name of a file";
  if (spec.compiled() && spec.artefacts.empty())
    return "artefacts: required where something is compiled";
  if (!spec.compiled() && !spec.artefacts.empty())
    return "artefacts: nothing is compiled, so there are none";
  const bool has_it =
      std::find(spec.artefacts.begin(), spec.artefacts.end(),
                spec.run.front().substr(std::min<size_t>(2, spec.run.front().size()))) !=
      spec.artefacts.end();
  const bool names_script =
      std::find(spec.run.begin() + 1, spec.run.end(), spec.file) != spec.run.end();
  if (spec.warm && (spec.compiled() || !names_script))
    return "start: warm is for an interpreter that is called with " + spec.file;
  if (spec.runs_artefact() && !has_it) return "run: " + spec.run.front() + " is no artefact";
  return "";
}

}  // namespace

Limits usual_compile_limits() {
  Limits limits;
  limits.cpu = sys::Milliseconds(30000);
  limits.wall = sys::Milliseconds(120000);  // a busy machine is no fault of the source
  limits.memory = sys::mebibytes(1024);
  limits.pids = 128;
  limits.disk = sys::mebibytes(256);
  limits.out = limits.err = sys::kibibytes(256);
  return limits;
}

namespace {

Result<RuntimeSpec> runtime_from(const json& object, const std::string& where) {
  RuntimeSpec spec;
  spec.digest = images::sha256_of(object.dump());
  Fields fields(object, where);
  fields.text("name", spec.name, true);
  fields.text("title", spec.title, true);
  fields.texts("aliases", spec.aliases);
  fields.texts("extensions", spec.extensions);
  spec.source_extensions = spec.extensions;
  fields.texts("sources", spec.source_extensions);
  fields.text("package", spec.package);
  fields.texts("version", spec.version);
  fields.text("file", spec.file, true);
  fields.main_class("main_class", spec.finds_class);
  fields.start("start", spec.warm);
  fields.flag("jit", spec.jit);
  fields.texts("compile", spec.compile);
  fields.texts("artefacts", spec.artefacts);
  fields.texts("run", spec.run, true);
  fields.environment("env", spec.env);
  fields.profile("profile", spec.profile);
  fields.counts("forgiven", spec.forgiven);
  spec.compile_limits = usual_compile_limits();
  if (const json* limits = fields.object("compile_limits")) {
    if (std::string wrong = read_limits(*limits, where + ": compile_limits", spec.compile_limits);
        !wrong.empty())
      return Error::because(wrong);
  }
  if (std::string wrong = fields.finish(); !wrong.empty()) return Error::because(wrong);
  if (std::string wrong = objection(spec); !wrong.empty())
    return Error::because(where + ": " + wrong);
  return spec;
}

// A variant has what it does not say from its runtime, but for the words that lead to that.
Result<RuntimeSpec> variant_from(json object, const std::string& name, const json& fields,
                                 const std::string& where) {
  if (!fields.is_object()) return Error::because(where + ": expected an object");
  for (const char* own : {"name", "variants"}) {
    if (fields.contains(own)) return Error::because(where + ": unknown field " + own);
  }
  const std::string of = object.value("name", "");
  if (!object.contains("sources") && object.contains("extensions"))
    object["sources"] = object["extensions"];
  for (const char* way : {"aliases", "extensions"}) object.erase(way);
  object.update(fields);
  object["name"] = name;
  RuntimeSpec spec = TRY(runtime_from(object, where));
  spec.variant_of = of;
  return spec;
}

}  // namespace

Result<std::vector<RuntimeSpec>> parse_runtimes(std::string_view text, const std::string& where) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error::because(where + ": not a JSON object");
  json variants = json::object();
  if (const auto found = object.find("variants"); found != object.end()) {
    if (!found->is_object()) return Error::because(where + ": variants: expected an object");
    variants = std::move(*found);
    object.erase(found);
  }
  std::vector<RuntimeSpec> specs;
  specs.push_back(TRY(runtime_from(object, where)));
  for (const auto& [name, fields] : variants.items()) {
    if (!is_plain_name(name)) return Error::because(where + ": variants: expected names");
    specs.push_back(TRY(variant_from(object, name, fields, where + ": variants: " + name)));
  }
  return specs;
}

Result<std::vector<RuntimeSpec>> load_runtimes(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  if (problem) return Error::from_errno("runtimes " + directory, problem.value());
  std::sort(paths.begin(), paths.end());
  std::vector<RuntimeSpec> specs;
  std::map<std::string, std::string> words;  // and who goes by them
  for (const std::string& path : paths) {
    const std::string text = TRY(sys::read_file(path, kLargestFile));
    for (RuntimeSpec& spec : TRY(parse_runtimes(text, path))) {
      std::vector<std::string> names = spec.aliases;
      names.push_back(spec.name);
      for (const std::string& name : names) {
        auto [other, fresh] = words.emplace(name, spec.name);
        if (!fresh)
          return Error::because(
              fmt::format("{}: {} goes by \"{}\", too", path, other->second, name));
      }
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

}  // namespace runtime
