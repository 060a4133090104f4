#include "service/apis/native/attach_api.h"

#include "service/apis/native/attach_protocol.h"

namespace service {

namespace {

constexpr std::string_view kProtocol = "zygo.attach";

}  // namespace

const Operations<AttachApi>& AttachApi::operations() {
  static const Operations<AttachApi> all = {
      {{.method = Method::kGet,
        .pattern = "/v1/attach",
        .scope = Scope::kJobs,
        .summary = "A WebSocket: run one job, with its input and output live (docs/http.md).",
        .takes = "",
        .gives = kJson,
        .statuses = {101, 400, 426, 503},
        .parameters = {kPatience}},
       &AttachApi::attach},
  };
  return all;
}

void AttachApi::attach(const ExchangePtr& exchange, const std::string&) {
  std::optional<sys::Milliseconds> patience;
  if (auto bad = read_patience(exchange->request, patience)) return exchange->answer(*bad);
  auto protocol = std::make_unique<AttachProtocol>(
      context_.options.defaults, context_.facts.knows_template, context_.options.http.limits.head);
  context_.sessions.open(exchange, std::move(protocol), kProtocol, patience);
}

}  // namespace service
