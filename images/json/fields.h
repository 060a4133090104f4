#pragma once
// A JSON value with its path, so that an error names the place: "index.json: manifests[1].digest:
// must be a string". An error on the path to a member is reported when the member is read. Never
// throws. Borrows the value.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace images {

class Field {
 public:
  Field(const nlohmann::json* value, std::string place) : value_(value), place_(std::move(place)) {}

  // Null, and an absent member, are both "not there".
  bool there() const { return !trouble_.empty() || (value_ && !value_->is_null()); }
  Field member(const char* name) const;              // of an object
  sys::Result<std::vector<Field>> elements() const;  // of an array; none when not there
  sys::Result<std::string> text() const;
  sys::Result<std::string> text_or(std::string_view otherwise) const;
  sys::Result<std::vector<std::string>> texts() const;  // an array of strings; none when not there
  // An object of strings; none when not there.
  sys::Result<std::map<std::string, std::string>> texts_by_name() const;
  sys::Result<uint64_t> number() const;
  sys::Error wrong(std::string_view why) const;

 private:
  std::string below(std::string_view between, std::string_view part) const;

  const nlohmann::json* value_;
  std::string place_;
  std::string trouble_;  // why there is no such place; empty: there is
};

// `name` is what errors call the document.
sys::Result<nlohmann::json> parse_document(std::string_view text, std::string_view name);

}  // namespace images
