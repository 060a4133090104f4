#include "service/apis/multipart.h"

#include <algorithm>
#include <cctype>

#include "service/http/request.h"

namespace service {

namespace {

constexpr size_t kLongestBoundary = 200;  // RFC 2046 says 70
constexpr size_t kLongestHead = 16 << 10;
constexpr std::string_view kEndOfLine = "\r\n";

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Of a quoted text a backslash is only an escape in front of these, as for Go: clients that escape
// nothing send names of files with backslashes.
constexpr std::string_view kEscapable = "()<>@,;:\\\"/[]?=";

// Up to the next semicolon, or the text between quotes with its backslashes resolved.
std::string take_value(std::string_view& rest) {
  std::string value;
  if (rest.empty() || rest.front() != '"') {
    const size_t end = std::min(rest.find(';'), rest.size());
    value = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return value;
  }
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != '"') {
    const bool is_escape =
        rest.front() == '\\' && rest.size() > 1 && kEscapable.find(rest[1]) != kEscapable.npos;
    if (is_escape) rest.remove_prefix(1);
    value += rest.front();
    rest.remove_prefix(1);
  }
  rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  return value;
}

// The value of a parameter of "form-data; name=\"file\"; filename=\"a.txt\"".
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  header.remove_prefix(std::min(header.find(';'), header.size()));
  while (!header.empty()) {
    header.remove_prefix(1);
    const size_t equals = header.find_first_of("=;");
    if (equals == header.npos) return std::nullopt;
    const std::string_view key = trimmed(header.substr(0, equals));
    if (header[equals] == ';') {
      header.remove_prefix(equals);
      continue;
    }
    header.remove_prefix(equals + 1);
    while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
    std::string value = take_value(header);
    if (equal_but_for_case(key, name)) return value;
  }
  return std::nullopt;
}

// The value of Content-Disposition.
std::string_view disposition_of(std::string_view head) {
  constexpr std::string_view kName = "content-disposition";
  while (!head.empty()) {
    const size_t end = std::min(head.find(kEndOfLine), head.size());
    const std::string_view line = head.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != line.npos && equal_but_for_case(trimmed(line.substr(0, colon)), kName))
      return trimmed(line.substr(colon + 1));
    head.remove_prefix(std::min(end + kEndOfLine.size(), head.size()));
  }
  return {};
}

}  // namespace

std::optional<std::vector<FormFile>> files_of_form(std::string_view content_type,
                                                   std::string_view body, std::string_view field,
                                                   size_t most) {
  constexpr std::string_view kForm = "multipart/form-data", kEndOfHead = "\r\n\r\n";
  if (!equal_but_for_case(content_type.substr(0, kForm.size()), kForm)) return std::nullopt;
  const std::optional<std::string> boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kLongestBoundary) return std::nullopt;
  const std::string delimiter = "--" + *boundary, next = "\r\n" + delimiter;
  if (!body.starts_with(delimiter)) {
    const size_t first = body.find(next);
    if (first == body.npos) return std::nullopt;
    body.remove_prefix(first + kEndOfLine.size());
  }
  std::vector<FormFile> files;
  while (files.size() < most && body.starts_with(delimiter)) {
    body.remove_prefix(delimiter.size());
    if (body.starts_with("--")) return files;
    const size_t head_end = body.substr(0, kLongestHead).find(kEndOfHead);
    if (head_end == body.npos) return std::nullopt;
    const std::string_view disposition = disposition_of(body.substr(0, head_end));
    body.remove_prefix(head_end + kEndOfHead.size());
    const size_t end = body.find(next);
    if (end == body.npos) return std::nullopt;
    std::optional<std::string> name = parameter(disposition, "filename");
    if (name && parameter(disposition, "name") == field)
      files.push_back({*std::move(name), body.substr(0, end)});
    body.remove_prefix(end + kEndOfLine.size());
  }
  return files;
}

std::optional<FormFile> file_of_form(std::string_view content_type, std::string_view body,
                                     std::string_view field) {
  auto files = files_of_form(content_type, body, field, 1);
  if (!files || files->empty()) return std::nullopt;
  return std::move(files->front());
}

}  // namespace service
