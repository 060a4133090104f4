#include "service/page/page.h"

#include <algorithm>

namespace service {

namespace {

// Whatever a program prints: no script but the page's own files runs, and nothing is sent
// elsewhere.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

// If-None-Match: "*" or a list of tags, weak ones too.
bool has_it(const Request& request, std::string_view etag) {
  const std::string* given = request.header("if-none-match");
  return given && (*given == "*" || given->find(etag) != std::string::npos);
}

}  // namespace

const PageFile* page_file(std::string_view path) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [path](const PageFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

Response page_response(const PageFile& file, const Request& request) {
  Response response;
  response.type = file.type;
  // Weak: it may come in gzip or not, and its bytes differ then.
  response.headers = {{"ETag", "W/" + std::string(file.etag)},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", kContentPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (has_it(request, file.etag)) {
    response.status = 304;
    response.headers.emplace_back("Vary", "Accept-Encoding");
  } else {
    response.body = file.text;
  }
  return response;
}

}  // namespace service
