#pragma once
// DifyApi: dify-sandbox's API over the service.

#include "service/apis/api.h"

namespace service::dify {

class DifyApi : public Api {
 public:
  static constexpr std::string_view kName = "dify";
  explicit DifyApi(const ApiContext& context) : context_(context) {}

  Routes routes() override;
  TokenPlaces token_places() const override { return {.header = "x-api-key"}; }

 private:
  void run(const ExchangePtr& exchange);

  const ApiContext context_;
};

}  // namespace service::dify
