#pragma once
// CallbackSender: callbacks to places that the operator has named, by processes that may connect to
// these and to nothing else. Loop thread only.

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/callbacks/callback.h"
#include "cluster/callbacks/callback_url.h"
#include "cluster/link/join_url.h"
#include "cluster/link/tls.h"
#include "cluster/peers/dialer.h"
#include "cluster/peers/dialer_processes.h"
#include "service/callbacks.h"

namespace cluster {

class CallbackSender : public service::Callbacks {
 public:
  static constexpr size_t kAtOnce = 16;         // at each place: one that is slow delays no other's
  static constexpr size_t kMostWaiting = 1000;  // likewise
  struct Options {
    std::vector<JoinUrl> places;                 // callbacks go at or below these
    sys::OwnedFd processes;                      // DialerProcesses::start() for them, in this order
    std::shared_ptr<const TlsContext> tls = {};  // where one of them is https
  };
  CallbackSender(service::CallbacksHouse house, Options options);

  Check check() const override;
  void send(std::string_view url, std::string body, std::shared_ptr<void> held) override;
  bool is_idle() const override { return unfinished_ == 0; }
  Counts counts() const override { return counts_; }

 private:
  struct Waiting {
    CallbackUrl url;
    std::string body;
    std::shared_ptr<void> held;
  };
  struct Place {
    Place(CallbackSender& all, uint32_t number, JoinUrl where);
    const JoinUrl url;
    Dialer dialer;
    std::deque<Waiting> waiting;
    std::set<std::shared_ptr<Callback>> under_way;
    bool fails = false;
  };
  Place* place_of(const CallbackUrl& url) const;
  void begin_more(Place& place);
  void over(const std::shared_ptr<Callback>& callback, Place& place, const std::string& why);

  const service::CallbacksHouse house_;
  const std::shared_ptr<const TlsContext> tls_;
  DialerProcesses processes_;
  std::vector<std::unique_ptr<Place>> places_;
  size_t unfinished_ = 0;  // callbacks that wait or are under way
  Counts counts_;
};

}  // namespace cluster
