#include "images/json/record.h"

#include "images/json/fields.h"
#include "images/sha256.h"

namespace images {

using nlohmann::ordered_json;
using sys::Result;

namespace {

ordered_json json_of(const ImageConfig& config) {
  ordered_json json = {{"environment", config.environment},
                       {"working_directory", config.working_directory},
                       {"user", config.user},
                       {"entrypoint", config.entrypoint},
                       {"command", config.command}};
  if (config.python) {
    json["python"] = {{"interpreter", config.python->interpreter},
                      {"directories", config.python->directories},
                      {"needs", config.python->needs}};
  }
  return json;
}

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Absolute, and without parts that lead elsewhere.
bool is_plain_path(std::string_view path) {
  if (path.size() < 2 || path.front() != '/' || path.find('\0') != path.npos) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    path.remove_prefix(part.size());
  }
  return true;
}

Result<std::map<std::string, std::string>> plain_paths(const Field& field) {
  auto paths = TRY(field.texts_by_name());
  for (const auto& [name, value] : paths) {
    if (!is_plain_path(name) || !is_plain_path(value))
      return field.wrong("must hold absolute paths without \".\" and \"..\"");
  }
  return paths;
}

Result<PythonEnvironment> python_of(const Field& field) {
  PythonEnvironment python;
  const Field interpreter = field.member("interpreter");
  python.interpreter = TRY(interpreter.text());
  if (!is_plain_path(python.interpreter))
    return interpreter.wrong("must be an absolute path without \".\" and \"..\"");
  const Field directories = field.member("directories");
  python.directories = TRY(plain_paths(directories));
  if (python.directories.empty()) return directories.wrong("must not be empty");
  python.needs = TRY(plain_paths(field.member("needs")));
  return python;
}

Result<ImageConfig> config_of(const Field& field) {
  ImageConfig config;
  config.environment = TRY(field.member("environment").texts());
  config.working_directory = TRY(field.member("working_directory").text());
  config.user = TRY(field.member("user").text());
  config.entrypoint = TRY(field.member("entrypoint").texts());
  config.command = TRY(field.member("command").texts());
  if (const Field python = field.member("python"); python.there())
    config.python = TRY(python_of(python));
  return config;
}

}  // namespace

std::string to_json(const ImageConfig& config) { return text_of(json_of(config)); }

std::string to_json(const ContentRecord& record) {
  return text_of(
      {{"config", json_of(record.config)}, {"bytes", record.bytes}, {"entries", record.entries}});
}

std::string to_json(const PackRecord& record) {
  return text_of({{"digest", record.digest}, {"config", json_of(record.config)}});
}

std::string to_json(const NameRecord& record) {
  return text_of(
      {{"digest", record.digest}, {"source", record.source}, {"imported", record.imported}});
}

Result<PackRecord> parse_pack(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  PackRecord record;
  const Field digest = document.member("digest");
  record.digest = TRY(digest.text());
  if (!is_sha256(record.digest)) return digest.wrong("is no sha256 digest");
  const Field config = document.member("config");
  record.config = TRY(config_of(config));
  if (!record.config.python) return config.member("python").wrong("is missing");
  return record;
}

Result<ContentRecord> parse_content(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  ContentRecord record;
  record.config = TRY(config_of(document.member("config")));
  record.bytes = TRY(document.member("bytes").number());
  record.entries = TRY(document.member("entries").number());
  return record;
}

Result<NameRecord> parse_name(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  NameRecord record;
  const Field digest = document.member("digest");
  record.digest = TRY(digest.text());
  if (!is_sha256(record.digest)) return digest.wrong("is no sha256 digest");
  record.source = TRY(document.member("source").text());
  record.imported = TRY(document.member("imported").text());
  return record;
}

}  // namespace images
