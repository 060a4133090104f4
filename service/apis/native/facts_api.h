#pragma once
// FactsApi: facts about the service itself: health, version, languages, metrics. Loop thread
// only.

#include <string>

#include "service/apis/native/context.h"
#include "service/apis/native/operation.h"

namespace service {

class FactsApi {
 public:
  explicit FactsApi(const NativeContext& context) : context_(context) {}
  static const Operations<FactsApi>& operations();

 private:
  void get_runtimes(const ExchangePtr& exchange, const std::string&);
  void get_templates(const ExchangePtr& exchange, const std::string&);
  void get_info(const ExchangePtr& exchange, const std::string&);
  void get_health(const ExchangePtr& exchange, const std::string&);
  void get_ready(const ExchangePtr& exchange, const std::string&);
  void get_metrics(const ExchangePtr& exchange, const std::string&);
  void get_stats(const ExchangePtr& exchange, const std::string&);
  void post_selfcheck(const ExchangePtr& exchange, const std::string&);
  void get_openapi(const ExchangePtr& exchange, const std::string&);

  const NativeContext context_;
  bool checking_ = false;  // a selfcheck is under way
};

}  // namespace service
