#pragma once
// NemoApi: the API of NeMo-Skills' local sandbox over the service.

#include "service/apis/api.h"
#include "service/apis/nemo/shells.h"

namespace service::nemo {

class NemoApi : public Api {
 public:
  static constexpr std::string_view kName = kApiName;
  explicit NemoApi(const ApiContext& context)
      : context_(context),
        shells_({context.foreign_sessions, context.deadlines, context.defaults}, {}) {}

  Routes routes() override;

 private:
  void execute(const ExchangePtr& exchange);
  void list(const ExchangePtr& exchange) const;
  void end(const ExchangePtr& exchange, const std::string& shell);

  const ApiContext context_;
  Shells shells_;
};

}  // namespace service::nemo
