#pragma once
// OpenR1Api: the API of open-r1's routers over the service.

#include "service/apis/api.h"

namespace service::open_r1 {

class OpenR1Api : public Api {
 public:
  static constexpr std::string_view kName = "open-r1";
  explicit OpenR1Api(const ApiContext& context) : context_(context) {}

  Routes routes() override;

 private:
  void execute_batch(const ExchangePtr& exchange);

  const ApiContext context_;
};

}  // namespace service::open_r1
