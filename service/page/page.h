#pragma once
// The page for people: files of page/, which travel inside the binary, and how they are answered.
// Pure.

#include <span>
#include <string_view>

#include "service/http/request.h"

namespace service {

struct PageFile {
  std::string_view path;  // "/", "/page/main.js"
  std::string_view type, etag, text;
};

std::span<const PageFile> page_files();            // made at build time by page/embed.cmake
const PageFile* page_file(std::string_view path);  // none: it is no path of the page

// 304 for a browser that has it. The headers let the page load and ask nobody but this service.
Response page_response(const PageFile& file, const Request& request);

}  // namespace service
