#pragma once
// Files out of a form (RFC 7578, multipart/form-data). Pure; the bytes are untrusted.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

struct FormFile {
  std::string name;          // what the client calls it; may be empty
  std::string_view content;  // a view into the body
};

// The first file of this field; nothing when there is none, or the body is no such form.
std::optional<FormFile> file_of_form(std::string_view content_type, std::string_view body,
                                     std::string_view field);

// The files of this field, the first `most` of them; nothing when the body is no such form.
std::optional<std::vector<FormFile>> files_of_form(std::string_view content_type,
                                                   std::string_view body, std::string_view field,
                                                   size_t most);

}  // namespace service
