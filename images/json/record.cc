#include "images/json/record.h"

#include "images/json/fields.h"
#include "images/sha256.h"

namespace images {

using nlohmann::ordered_json;
using sys::Result;

namespace {

ordered_json json_of(const ImageConfig& config) {
  return {{"environment", config.environment},
          {"working_directory", config.working_directory},
          {"user", config.user},
          {"entrypoint", config.entrypoint},
          {"command", config.command}};
}

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json(const ImageConfig& config) { return text_of(json_of(config)); }

std::string to_json(const ContentRecord& record) {
  return text_of(
      {{"config", json_of(record.config)}, {"bytes", record.bytes}, {"entries", record.entries}});
}

std::string to_json(const NameRecord& record) {
  return text_of(
      {{"digest", record.digest}, {"source", record.source}, {"imported", record.imported}});
}

Result<ContentRecord> parse_content(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  ContentRecord record;
  const Field config = document.member("config");
  record.config.environment = TRY(config.member("environment").texts());
  record.config.working_directory = TRY(config.member("working_directory").text());
  record.config.user = TRY(config.member("user").text());
  record.config.entrypoint = TRY(config.member("entrypoint").texts());
  record.config.command = TRY(config.member("command").texts());
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
