#pragma once
// SandboxFusionApi: SandboxFusion's API over the service.

#include "service/apis/api.h"

namespace service::sandbox_fusion {

class SandboxFusionApi : public Api {
 public:
  static constexpr std::string_view kName = "sandbox-fusion";
  explicit SandboxFusionApi(const ApiContext& context) : context_(context) {}

  Routes routes() override;

 private:
  void run_code(const ExchangePtr& exchange);
  void run_jupyter(const ExchangePtr& exchange);
  void submit(const ExchangePtr& exchange);

  const ApiContext context_;
};

}  // namespace service::sandbox_fusion
