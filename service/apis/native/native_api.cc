#include "service/apis/native/native_api.h"

namespace service {

namespace {

constexpr double kLongestPatience = 86'400;  // seconds

}  // namespace

std::optional<Response> read_patience(const Request& request,
                                      std::optional<sys::Milliseconds>& patience) {
  const std::string* given = request.header("x-zygo-patience");
  if (!given) return std::nullopt;
  const std::optional<double> seconds = read_seconds(*given, kLongestPatience);
  if (!seconds)
    return error_response(400, "patience", "X-Zygo-Patience: expected seconds, 0 to 86400");
  patience = sys::Milliseconds(static_cast<int64_t>(*seconds * 1000));
  return std::nullopt;
}

void mark_replayed(Response& response) {
  response.headers.emplace_back("Idempotent-Replayed", "true");
}

NativeApi::NativeApi(const NativeContext& context)
    : durable_(context),
      jobs_(context, durable_),
      sessions_(context),
      attach_(context),
      blobs_(context),
      facts_(context) {}

Routes NativeApi::routes() {
  Routes all;
  add_routes(jobs_, JobsApi::operations(), all);
  add_routes(sessions_, SessionsApi::operations(), all);
  add_routes(attach_, AttachApi::operations(), all);
  add_routes(blobs_, BlobsApi::operations(), all);
  add_routes(facts_, FactsApi::operations(), all);
  return all;
}

Descriptions NativeApi::descriptions() {
  Descriptions all;
  describe(JobsApi::operations(), all);
  describe(SessionsApi::operations(), all);
  describe(AttachApi::operations(), all);
  describe(BlobsApi::operations(), all);
  describe(FactsApi::operations(), all);
  return all;
}

void NativeApi::feed() {
  jobs_.feed();
  sessions_.feed();
  durable_.feed();
}

}  // namespace service
