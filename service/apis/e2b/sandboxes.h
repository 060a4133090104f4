#pragma once
// Sandboxes: what E2B's clients do with whole sandboxes: begin, list, end, pause, fork, keep as a
// snapshot. Loop thread only.

#include "service/apis/e2b/parts.h"
#include "service/apis/e2b/request.h"

namespace service::e2b {

class Sandboxes {
 public:
  explicit Sandboxes(Parts parts) : parts_(parts) {}
  Routes routes();
  void kill(const std::string& id, const std::string& why);
  // As Lost has it.
  bool lose(const std::string& id, const std::string& context, const std::string& why);

 private:
  using Asked = void (Sandboxes::*)(const ExchangePtr& exchange, const std::string& id);
  Route route(Method method, std::string_view pattern, Asked asked);

  void create(const ExchangePtr& exchange, const std::string&);
  void list(const ExchangePtr& exchange, const std::string&);
  void show(const ExchangePtr& exchange, const std::string& id);
  void kill_asked(const ExchangePtr& exchange, const std::string& id);
  void set_life(const ExchangePtr& exchange, const std::string& id);
  void connect(const ExchangePtr& exchange, const std::string& id);
  void resume(const ExchangePtr& exchange, const std::string& id);
  void pause(const ExchangePtr& exchange, const std::string& id);
  void fork(const ExchangePtr& exchange, const std::string& id);
  void take_snapshot(const ExchangePtr& exchange, const std::string& id);
  void list_snapshots(const ExchangePtr& exchange, const std::string&);
  void delete_snapshot(const ExchangePtr& exchange, const std::string& id);

  std::string owner_of(const Exchange& exchange) const;
  // Null: it is answered.
  Sandbox* find(const ExchangePtr& exchange, const std::string& id);
  void begin_from(const ExchangePtr& exchange, const Creation& creation, Snapshot& of);
  // A sandbox with one context, in this state.
  Sandbox& begin(const Exchange& exchange, const Creation& creation, State first, State now);
  void live_for(Sandbox& sandbox, sys::Milliseconds life);
  void end_life(const std::string& id);
  void suspend(Sandbox& sandbox);
  // False: this owner has none.
  bool drop_snapshot(const std::string& owner, const std::string& id);

  const Parts parts_;
};

}  // namespace service::e2b
