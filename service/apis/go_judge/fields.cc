#include "service/apis/go_judge/fields.h"

#include <algorithm>

#include "runtime/json/job/job_parts.h"
#include "service/apis/go_judge/go_judge.h"

namespace service::go_judge {

using nlohmann::json;

namespace {

constexpr size_t kMostWords = 4096, kMostBytesOfWords = size_t{128} << 10;
constexpr double kLargest = 9e18;

}  // namespace

void Complaint::add(std::string where, std::string_view what, int status) {
  if (status_ != 0) return;
  status_ = status;
  text_ = std::move(where);
  text_ += text_.empty() ? "" : ": ";
  text_ += what;
}

Response Complaint::response() const { return text_response(status_, text_); }

const json* find(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

uint64_t number(const json& object, const char* name, const std::string& where,
                Complaint& complaint) {
  const json* found = find(object, name);
  if (!found) return 0;
  if (found->is_number_unsigned()) return found->get<uint64_t>();
  if (found->is_number_float()) {
    const auto value = found->get<double>();
    if (value >= 0 && value < kLargest) return static_cast<uint64_t>(value);
  }
  complaint.add(where + "." + name, "expected a whole number, 0 or more");
  return 0;
}

bool truth(const json& object, const char* name) {
  const json* found = find(object, name);
  return found && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> texts(const json& object, const char* name, const std::string& where,
                               Complaint& complaint) {
  std::vector<std::string> list;
  const json* found = find(object, name);
  if (!found) return list;
  size_t bytes = 0;
  bool good = found->is_array() && found->size() <= kMostWords;
  for (size_t i = 0; good && i < found->size(); ++i) {
    good = (*found)[i].is_string();
    if (!good) break;
    list.push_back((*found)[i]);
    bytes += list.back().size();
    good = list.back().find('\0') == std::string::npos && bytes <= kMostBytesOfWords;
  }
  if (!good) complaint.add(where + "." + name, "expected a list of strings, 128 KiB at most");
  return list;
}

std::string path_in_scratch(std::string_view path) {
  for (const std::string_view top : {"/w/", "/tmp/"}) {
    if (!path.starts_with(top)) continue;
    path.remove_prefix(top.size() - 1);
    while (path.starts_with('/')) path.remove_prefix(1);
    break;
  }
  if (path.starts_with('/')) return "";
  std::string plain;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (!part.empty() && part != ".") (plain += plain.empty() ? "" : "/") += part;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return runtime::objection_to_path(plain) == nullptr ? plain : "";
}

std::string glob_of(std::string_view path) {
  std::string glob;
  for (const char c : path) {
    const bool special = c == '*' || c == '?' || c == '[';
    glob += special ? std::string("[") + c + "]" : std::string(1, c);
  }
  return glob;
}

}  // namespace service::go_judge
