#pragma once
// Reads JSON of whatever answers at an address: what is missing or of another kind counts as 0 or
// empty, and nothing is deeper, longer or larger than zygo's own answers are. Pure.

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"

namespace cli::foreign {

using json = nlohmann::ordered_json;

constexpr size_t kMostRows = 1000;  // of a list

// An object; `what`, for people, cannot be read otherwise.
sys::Result<json> read(std::string_view bytes, const char* what);

const json& at(const json& object, const char* key);
int64_t number_of(const json& value);
int64_t number(const json& object, const char* key);
std::string text(const json& object, const char* key);

template <typename Use>
void each(const json& list, Use use, size_t most = kMostRows) {
  if (!list.is_array()) return;
  for (size_t i = 0; i < std::min(list.size(), most); ++i) use(list[i]);
}

}  // namespace cli::foreign
