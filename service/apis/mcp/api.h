#pragma once
// McpApi: the Model Context Protocol over streamable HTTP (docs/mcp.md). Each client that sends
// initialize has a session of its own.

#include <memory>
#include <string>

#include "service/apis/api.h"
#include "service/apis/mcp/client_sessions.h"

namespace service::mcp {

class McpApi : public Api {
 public:
  static constexpr std::string_view kName = "mcp";
  explicit McpApi(const ApiContext& context) : context_(context) {}
  ~McpApi() override { context_.deadlines.forget(sweep_); }

  Routes routes() override;

 private:
  void post(const ExchangePtr& exchange);
  void end(const ExchangePtr& exchange);
  // Answers the request, and returns false, if it is none of this protocol.
  bool admits(const ExchangePtr& exchange) const;
  void arm();

  const ApiContext context_;
  ClientSessions sessions_{ClientSessions::Limits{}};
  Deadlines::Id sweep_ = 0;
};

}  // namespace service::mcp
