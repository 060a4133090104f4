#pragma once
// PistonApi: Piston's API v2 over the service.

#include <functional>
#include <vector>

#include "service/apis/api.h"
#include "service/apis/piston/piston.h"

namespace service::piston {

class PistonApi : public Api {
 public:
  static constexpr std::string_view kName = piston::kName;
  PistonApi(const ApiContext& context, Options options)
      : context_(context), options_(std::move(options)) {}

  Routes routes() override;
  std::optional<Response> answer_without_route(const Request& request) const override;

 private:
  // Calls `use` with what is installed here.
  void with_languages(std::function<void(std::vector<Language>)> use);
  void list_runtimes(const ExchangePtr& exchange);
  void execute(const ExchangePtr& exchange);
  void execute(const ExchangePtr& exchange, const std::vector<Language>& languages);
  void connect(const ExchangePtr& exchange);
  void list_packages(const ExchangePtr& exchange);
  void change_packages(const ExchangePtr& exchange, Change change);

  const ApiContext context_;
  const Options options_;
};

}  // namespace service::piston
