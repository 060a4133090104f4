// Headers of a hostile client that are read beyond HTTP itself: trace context, origins, tags,
// content codings. Lines "name:value"; a "+" at the front names an origin that the operator allows.

#include <nlohmann/json.hpp>

#include "service/admission/cors.h"
#include "service/http/content_coding.h"
#include "service/observe/trace_context.h"
#include "service/page/page.h"
#include "tests/fuzz/input.h"

namespace {

using service::Headers;

bool is_one_line(const std::string& text) { return text.find_first_of("\r\n") == text.npos; }

void check_trace(const Headers& headers) {
  const auto trace = service::read_trace_context(headers);
  if (!trace) return;
  VERIFY(trace->trace_id.size() == 32 && trace->parent_id.size() == 16);
  VERIFY(trace->state.size() <= 512);
  std::string result = "{\"id\":1}";
  service::add_service_object(trace, result);
  const auto read = nlohmann::json::parse(result);
  VERIFY(read["service"]["trace"]["trace_id"] == trace->trace_id);
  // Others can read the trace context that we write.
  const auto again = service::read_trace_context({{"traceparent", trace->response()}});
  VERIFY(again && again->trace_id == trace->trace_id && again->flags == trace->flags);
  VERIFY(again->parent_id == trace->span_id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  service::Cors cors;
  service::Request request;
  request.method = service::Method::kOptions;
  while (!input.empty()) {
    std::string_view line = input.up_to('\n');
    if (line.starts_with('+')) {
      (void)cors.add(line.substr(1)).ok();
      continue;
    }
    const size_t colon = std::min(line.find(':'), line.size());
    std::string value(line.substr(std::min(colon + 1, line.size())));
    std::erase_if(value, [](char c) { return c == '\r' || c == '\0'; });  // the parser's work
    request.headers.emplace_back(line.substr(0, colon), std::move(value));
  }
  check_trace(request.headers);
  for (const auto& [name, value] : cors.headers(request)) VERIFY(is_one_line(name + value));
  VERIFY(!cors.is_preflight(request) || cors.allows(request));
  if (service::is_own_page(request)) VERIFY(request.header("origin")->starts_with("http://"));
  const service::Response page = service::page_response(*service::page_file("/"), request);
  // An element that is not there changes nothing.
  Headers more = request.headers;
  more.emplace_back("accept-encoding", " ,");
  more.emplace_back("content-encoding", "identity,");
  VERIFY(service::accepts_gzip(more) == service::accepts_gzip(request.headers));
  VERIFY(service::coding_of_body(more) == service::coding_of_body(request.headers));
  VERIFY(page.status == 200 || (page.status == 304 && page.body.empty()));
  return 0;
}
