#pragma once
// JupyterApi: the kernels of a Jupyter server, as its kernel gateway offers them, over the
// service's sessions. A client sees its own kernels only. Owns them.

#include <map>
#include <memory>
#include <string>

#include "service/apis/api.h"
#include "service/apis/jupyter/hosted_kernel.h"

namespace service::jupyter {

class JupyterApi : public Api {
 public:
  static constexpr std::string_view kName = "jupyter";
  explicit JupyterApi(const ApiContext& context);
  ~JupyterApi() override;

  Routes routes() override;
  TokenPlaces token_places() const override { return {.scheme = "token", .parameter = "token"}; }
  bool is_busy() const override;
  void close_rest() override;

 private:
  using KernelPtr = std::shared_ptr<HostedKernel>;
  using Use = std::function<void(const ExchangePtr&, const KernelPtr&)>;

  Handler with_kernel(Use use);
  KernelPtr find(const ExchangePtr& exchange, const std::string& id) const;
  void list_specs(const ExchangePtr& exchange, const std::string& name);
  void list(const ExchangePtr& exchange) const;
  void start(const ExchangePtr& exchange);
  void begin(const ExchangePtr& exchange, const KernelPtr& kernel, const std::string& id);
  void restart(const ExchangePtr& exchange, const KernelPtr& kernel);
  void attach(const ExchangePtr& exchange, const KernelPtr& kernel);
  bool make_room(const std::string& client);
  void end(const std::string& id);
  void end_idle();
  void arm();

  const ApiContext context_;
  runtime::Wakeup news_;  // of their steps, which may come until the last of them has gone
  std::map<std::string, KernelPtr> kernels_;
  uint64_t last_socket_ = 0;
  Deadlines::Id sweep_ = 0;
};

}  // namespace service::jupyter
