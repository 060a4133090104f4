#include "images/json/fields.h"

namespace images {

using sys::Error;
using sys::Result;

Error Field::wrong(std::string_view why) const {
  return Error::because(trouble_.empty() ? place_ + ": " + std::string(why) : trouble_);
}

// "index.json: manifests[0].digest": a colon ends the document's name.
std::string Field::below(std::string_view between, std::string_view part) const {
  const bool whole = place_.find(": ") == std::string::npos;
  return place_ + std::string(whole ? ": " : between) + std::string(part);
}

Field Field::member(const char* name) const {
  const std::string place = below(".", name);
  if (!trouble_.empty() || !value_ || !value_->is_object()) {
    Field lost(nullptr, place);
    lost.trouble_ = wrong("must be an object").text();
    return lost;
  }
  const auto found = value_->find(name);
  return {found == value_->end() ? nullptr : &*found, place};
}

Result<std::vector<Field>> Field::elements() const {
  std::vector<Field> all;
  if (!there()) return all;
  if (!value_ || !value_->is_array()) return wrong("must be an array");
  for (const nlohmann::json& each : *value_)
    all.emplace_back(&each, below("", "[" + std::to_string(all.size()) + "]"));
  return all;
}

Result<std::string> Field::text() const {
  if (!there()) return wrong("is missing");
  const auto* text = value_ ? value_->get_ptr<const nlohmann::json::string_t*>() : nullptr;
  if (!text) return wrong("must be a string");
  if (text->find('\0') != std::string::npos) return wrong("must not hold a NUL character");
  return *text;
}

Result<std::string> Field::text_or(std::string_view otherwise) const {
  if (!there()) return std::string(otherwise);
  return text();
}

Result<std::vector<std::string>> Field::texts() const {
  std::vector<std::string> all;
  for (const Field& each : TRY(elements())) all.push_back(TRY(each.text()));
  return all;
}

Result<std::map<std::string, std::string>> Field::texts_by_name() const {
  std::map<std::string, std::string> all;
  if (!there()) return all;
  if (!value_ || !value_->is_object()) return wrong("must be an object");
  for (const auto& [name, value] : value_->items())
    all.emplace(name, TRY(Field(&value, below(".", name)).text()));
  return all;
}

Result<uint64_t> Field::number() const {
  if (!there()) return wrong("is missing");
  if (!value_ || !value_->is_number_unsigned())
    return wrong("must be a whole number, and not negative");
  return value_->get<uint64_t>();
}

Result<nlohmann::json> parse_document(std::string_view text, std::string_view name) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error::because(std::string(name) + ": is not JSON");
  return document;
}

}  // namespace images
