#pragma once
// Server: the listening sockets and all connections, within bounds. Hands requests to its handler,
// on the loop's thread. Owned by the service.

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "service/http/connection.h"
#include "service/http/listener.h"

namespace service {

class Server : private ConnectionHost {
 public:
  struct Options {
    ConnectionLimits limits;
    size_t connections = 256;
  };
  struct Handler {
    std::function<void(ExchangePtr)> handle;
    std::function<void(const Exchange&)> finished;
    std::function<void(const Peer&, int status)> refused;
    std::function<void()> changed;  // a connection has ended
    // The client of a request: a token's name, or else the peer's. And whether it is a health
    // check, for which there is always room. None: the peer's; there are no health checks.
    std::function<std::string(const Request&, const Peer&)> client_of = {};
    std::function<bool(const Request&)> is_probe = {};
    // As ConnectionHost::aside(). None: it is done here and now.
    std::function<void(const std::string& client, std::function<void()> work,
                       std::function<void()> then)>
        aside = {};
  };
  Server(runtime::Loop& loop, Options options, Allowance& bodies, Handler handler);
  ~Server() override;

  void add(Listener listener);
  // Takes no new connections; those without a request go, the others after their answer. Must not
  // be called from within a handler.
  void drain();
  bool busy() const;  // something is to be answered yet
  size_t connections() const { return connections_.size(); }
  void set_options(const Options& options);
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Door {
    Listener listener;
    std::unique_ptr<runtime::SocketWatch> watch;
  };
  using Connections = std::list<std::unique_ptr<Connection>>;

  void accept_from(const Listener& listener);
  void open_doors();
  void close_doors_for_a_moment();
  void sweep();
  Connection* to_be_dropped(size_t more_than);
  size_t connections_of(const std::string& client) const;
  void turn_away(int socket, const Peer& peer);
  ConnectionHost& host() { return *this; }

  void handle(ExchangePtr exchange) override { handler_.handle(std::move(exchange)); }
  void finished(const Exchange& exchange) override { handler_.finished(exchange); }
  void refused(const Peer& peer, int status) override { handler_.refused(peer, status); }
  void over(Connection& connection) override;
  bool draining() const override { return draining_; }
  Allowance& bodies() override { return bodies_; }
  void aside(const std::string& client, std::function<void()> work,
             std::function<void()> then) override;
  std::string client_of(const Request& request, const Peer& peer) override {
    return handler_.client_of ? handler_.client_of(request, peer) : peer.name;
  }
  std::optional<Response> place_for(Connection& connection, const Request& request,
                                    Allowance::Share& place) override;

  runtime::Loop& loop_;
  Options options_;
  Allowance& bodies_;
  Allowance places_;  // requests under way
  const Handler handler_;
  bool draining_ = false;
  std::list<Door> doors_;
  std::vector<std::string> names_;
  Connections connections_, graveyard_;
  runtime::Wakeup sweeper_;
  runtime::Timer reopen_;
};

}  // namespace service
