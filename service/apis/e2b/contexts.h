#pragma once
// Contexts: the interpreters of a sandbox. Each is a state of its own; one that is begun or
// restarted has nothing but the files that were there. Loop thread only.

#include "service/apis/e2b/parts.h"

namespace service::e2b {

class Contexts {
 public:
  Contexts(Parts parts, Lost lost) : parts_(parts), lost_(std::move(lost)) {}
  Routes routes();

 private:
  using Asked = void (Contexts::*)(const ExchangePtr& exchange, const std::string& id);
  Route route(Method method, std::string_view pattern, Asked asked);

  void create(const ExchangePtr& exchange, const std::string&);
  void list(const ExchangePtr& exchange, const std::string&);
  void remove(const ExchangePtr& exchange, const std::string& id);
  void restart(const ExchangePtr& exchange, const std::string& id);

  // A new state, in this directory, with the files that a context has.
  struct Renewal {
    std::string sandbox, context;
    std::string cwd;
    bool afresh = false;  // the state that it begins from has been made anew for it
  };
  // The state belongs to whoever is told; or the answer where it cannot be had.
  using Renewed = std::function<void(std::variant<State, Response>)>;
  void renew(const ExchangePtr& exchange, const Renewal& wish, Renewed then);
  // An archive of files.
  struct Packed {
    std::string archive;
    std::shared_ptr<void> held;  // counts it
  };
  void unpack(const ExchangePtr& exchange, const Renewal& wish, Packed packed, Renewed then);
  void begin_afresh(const ExchangePtr& exchange, const Renewal& wish, const std::string& gone,
                    Renewed then);
  void add(const ExchangePtr& exchange, const std::string& sandbox, const std::string& cwd,
           const State& now);

  const Parts parts_;
  const Lost lost_;
};

}  // namespace service::e2b
