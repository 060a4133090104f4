#pragma once
// Trace context of the W3C (headers traceparent and tracestate): taken from a request, told to its
// results, to the log and in the answer. A malformed header counts as absent. Pure, but for the
// span id, which is random.

#include <optional>
#include <string>
#include <string_view>

#include "service/http/request.h"

namespace service {

struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16: the caller's span
  std::string span_id;    // 16: ours, for this request
  std::string state;      // tracestate, as it came; may be empty
  unsigned flags = 0;     // bit 0: the caller samples this trace

  std::string json() const;  // an object
  // The header traceresponse, by which a caller finds our span.
  std::string response() const;
  // The header traceparent of whatever is done for it elsewhere.
  std::string child() const { return response(); }
};

std::optional<TraceContext> read_trace_context(const Headers& headers);
// Of a `traceparent` alone.
std::optional<TraceContext> read_trace_parent(const std::string& text);

// Adds the field "service" to a result, an object of JSON; nothing without a trace.
void add_service_object(const std::optional<TraceContext>& trace, std::string& result);

}  // namespace service
