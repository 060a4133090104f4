#pragma once
// NemoApi: the API of NeMo-Skills' local sandbox over the service.

#include "service/apis/api.h"

namespace service::nemo {

class NemoApi : public Api {
 public:
  static constexpr std::string_view kName = "nemo";
  explicit NemoApi(const ApiContext& context) : context_(context) {}

  Routes routes() override;

 private:
  void execute(const ExchangePtr& exchange);

  const ApiContext context_;
};

}  // namespace service::nemo
