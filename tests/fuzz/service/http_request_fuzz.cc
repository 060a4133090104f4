// A connection of a hostile client, byte by byte or in larger pieces: what is read must not depend
// on how the network cut it. The first byte says how long the pieces are.

#include <string>
#include <vector>

#include "service/apis/native/native_api.h"
#include "service/http/request_parser.h"
#include "tests/fuzz/input.h"

namespace {

using service::RequestParser;

constexpr service::ParserLimits kLimits{.head = 4096, .target = 64, .headers = 8, .body = 64};
constexpr size_t kMostRequests = 16;

std::string text_of(const service::Request& request) {
  std::string text = std::string(service::name_of(request.method)) + " " + request.path;
  for (const auto& [name, value] : request.query) text += "?" + name + "=" + value;
  for (const auto& [name, value] : request.headers) text += "\n" + name + ":" + value;
  return text + "\n\n" + request.body + (request.keep_alive ? "+" : "-");
}

service::Router native_router() {
  service::Router router;
  for (const service::Description& each : service::NativeApi::descriptions())
    router.add({{each.method, each.pattern, each.scope, nullptr}});
  return router;
}

std::vector<std::string> read_all(std::string_view bytes, size_t piece) {
  static const service::Router kRouter = native_router();
  std::vector<std::string> seen;
  RequestParser parser(kLimits);
  while (!bytes.empty() && seen.size() < kMostRequests) {
    const std::string_view given = bytes.substr(0, piece);
    const size_t taken = parser.feed(given);
    VERIFY(taken <= given.size());
    bytes.remove_prefix(taken);
    (void)parser.take_expectation();
    if (parser.state() == RequestParser::State::kBroken) {
      // The parser may give another of two reasons when both come in one piece.
      VERIFY(parser.refusal().status >= 400 && parser.refusal().close);
      seen.push_back("refused");
      return seen;
    }
    if (parser.state() == RequestParser::State::kComplete) {
      const service::Request request = parser.take();
      VERIFY(request.body.size() <= kLimits.body && request.headers.size() <= kLimits.headers);
      VERIFY(request.path.starts_with('/'));
      (void)kRouter.match(request.method, request.path);
      seen.push_back(text_of(request));
    } else {
      VERIFY(taken == given.size());
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t piece = size_t{1} + input.byte() % 32;
  const std::string_view bytes = input.rest().substr(0, 2048);
  VERIFY(read_all(bytes, piece) == read_all(bytes, bytes.size() + 1));
  return 0;
}
