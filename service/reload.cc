// A new configuration in the place of the old, while the service runs.

#include "service/service.h"

namespace service {

// A configuration that cannot be read changes nothing.
void Service::reread() {
  if (!facts_.reread || is_ending()) return;
  reread_again_ = rereading_;  // what is read may be older than this wish
  if (std::exchange(rereading_, true)) return;
  tell(runtime::ServiceState::kReloading);
  auto found = std::make_shared<sys::Result<ReloadableConfig>>(ReloadableConfig{});
  runtime::run_aside(
      loop_, [found, read = facts_.reread] { *found = read(); },
      [this, found] {
        rereading_ = false;
        if (*found) {
          change(std::move(*found).value());
          log_.note("configuration read again, and in force");
        } else {
          log_.note("configuration refused, the one before stays: " + found->error().text());
        }
        if (reread_again_) return reread();
        if (phase_ == Phase::kReady) tell(runtime::ServiceState::kReady);
      });
}

void Service::change(ReloadableConfig to) {
  options_.tokens = std::move(to.tokens);
  options_.cors = std::move(to.cors);
  options_.hosts = std::move(to.hosts);
  options_.log = to.log;
  options_.queue = to.queue;
  options_.http.connections = to.connections;
  options_.http.limits.head = to.limits.head;
  options_.http.limits.body = to.limits.body;
  options_.http.limits.write = to.limits.write;
  options_.http.limits.idle = to.limits.idle;
  log_.set_format(to.log);
  dispatcher_.set_most_queued(to.queue);
  server_->set_options(options_.http);
}

}  // namespace service
