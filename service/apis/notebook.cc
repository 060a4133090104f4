#include "service/apis/notebook.h"

#include <string>

#include "runtime/values/value.h"

namespace service {

using nlohmann::json;

json cells_of(const runtime::JobResult& result) {
  std::string text;
  if (!result.value.empty()) runtime::append_json(result.value, result.array, text);
  json value = json::parse(text, nullptr, false);
  return value.is_array() ? value : json::array();
}

}  // namespace service
