#include "service/apis/notebook.h"

#include <algorithm>

#include "runtime/values/value.h"

namespace service {

using nlohmann::json;

std::string unindented(std::string_view cell) {
  const size_t first = std::min(cell.find_first_not_of(" \t\r\n\f"), cell.size());
  const size_t start = first == 0 ? 0 : cell.find_last_of('\n', first - 1) + 1;  // npos + 1 is 0
  const std::string_view blanks = cell.substr(start, first - start);
  if (blanks.empty()) return std::string(cell.substr(start));
  std::string text;
  for (cell.remove_prefix(start); !cell.empty();) {
    const size_t size = std::min(cell.find('\n'), cell.size() - 1) + 1;
    std::string_view line = cell.substr(0, size);
    cell.remove_prefix(size);
    if (line.starts_with(blanks)) line.remove_prefix(blanks.size());
    text += line;
  }
  return text;
}

json cells_of(const runtime::JobResult& result) {
  std::string text;
  if (!result.value.empty()) runtime::append_json(result.value, result.array, text);
  json value = json::parse(text, nullptr, false);
  return value.is_array() ? value : json::array();
}

}  // namespace service
