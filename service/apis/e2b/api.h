#pragma once
// E2bApi: E2B's API of sandboxes that keep their state, over the service's sessions: a sandbox is a
// node that moves on with each request. Owns the sandboxes.

#include "service/apis/e2b/contexts.h"
#include "service/apis/e2b/inside.h"
#include "service/apis/e2b/sandboxes.h"

namespace service::e2b {

class E2bApi : public Api {
 public:
  static constexpr std::string_view kName = e2b::kName;
  explicit E2bApi(const ApiContext& context);

  Routes routes() override;
  TokenPlaces token_places() const override { return {.header = "x-api-key"}; }
  std::optional<Response> answer_without_route(const Request& request) const override;

 private:
  Lost lost();

  const ApiContext context_;
  SandboxStore store_;
  Steps steps_;
  Sandboxes sandboxes_;
  Contexts contexts_;
  Inside inside_;
};

}  // namespace service::e2b
