#pragma once
// EnvironmentsApi: gives packed environments to pilots, by name or digest. Loop thread only; files
// are read on another thread.

#include <string>
#include <vector>

#include "cluster/environments/offered.h"
#include "service/apis/api.h"

namespace cluster {

class EnvironmentsApi : public service::Api {
 public:
  EnvironmentsApi(const service::ApiContext& context, std::vector<Offered> offered)
      : context_(context), offered_(std::move(offered)) {}

  service::Routes routes() override;
  void describe_to(service::Described& into) const override;

 private:
  void list(const service::ExchangePtr& exchange) const;
  void get(const service::ExchangePtr& exchange, const std::string& digest) const;

  const service::ApiContext context_;
  const std::vector<Offered> offered_;
};

}  // namespace cluster
