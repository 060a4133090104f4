#pragma once
// PeersApi: what a router does that is not alone. Requests for a job or batch of another router go
// to that one, by the name in the id; jobs that are sent with an idempotency key go to the router
// that is the key's home, so that all of them know what was sent before. Loop thread only.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/peers/dialer.h"
#include "cluster/peers/forward.h"
#include "service/apis/api.h"

namespace cluster {

class PeersApi : public service::Api {
 public:
  struct Options {
    std::string router;  // the name of this one
    std::vector<Peer> others;
    sys::OwnedFd processes;                 // DialerProcesses::start() for `others`, in this order
    std::shared_ptr<const TlsContext> tls;  // where one of them is https
    sys::Milliseconds patience{30'000};     // of the silence of another router
  };
  PeersApi(const service::ApiContext& context, Options options);

  service::Routes routes() override { return {}; }
  bool takes(const service::ExchangePtr& exchange, const std::function<void()>& here) override;
  void append_metrics(std::string& into) const override;

 private:
  struct Known {
    Known(PeersApi& all, uint32_t number, Peer known);
    const Peer peer;
    uint64_t forwarded = 0, unreachable = 0;
    std::optional<sys::Nanoseconds> told;  // when its trouble was last told
    Dialer dialer;
  };
  // A job that belongs to the first of these that can be reached.
  struct Search {
    service::ExchangePtr exchange;
    std::function<void()> here;
    std::vector<std::string> homes;
    bool is_durable = false;
  };

  bool takes_id(const service::ExchangePtr& exchange, std::string_view id);
  void find_home(const std::shared_ptr<Search>& search, size_t index);
  void tell(Known& router, const std::string& why);
  void add_metric(std::string& into, const char* name, const char* kind, const char* help,
                  const std::function<uint64_t(const Known&)>& value) const;
  void forward(const service::ExchangePtr& exchange, Known& to,
               std::function<void(const sys::Error&)> unreachable);

  const service::ApiContext context_;
  const std::string router_;
  const std::shared_ptr<const TlsContext> tls_;
  const sys::Milliseconds patience_;
  std::vector<std::string> names_;  // of all routers, this one among them
  std::optional<DialerProcesses> processes_;
  std::map<std::string, Known, std::less<>> others_;
  std::set<std::shared_ptr<Forward>> forwards_;
};

}  // namespace cluster
