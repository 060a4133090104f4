#include "service/http/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace service {

namespace {

constexpr int kAcceptAtOnce = 64;
constexpr sys::Milliseconds kMoment{100};
// Connections above the most that there may be, until the head of a request says who it is.
constexpr size_t kSpare = 32;

Response too_many() { return busy_response(503, "connections", "too many connections", 1); }

Peer peer_of(int socket, const sockaddr_storage& from) {
  Peer peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    peer.is_this_host = (ntohl(v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &from, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    peer.is_this_host =
        IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) || std::string_view(text).starts_with("::ffff:127.");
  } else {
    peer.is_unix = true;
    ucred who{};
    socklen_t size = sizeof who;
    const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    peer.name = known ? fmt::format("uid:{}", who.uid) : "uid:unknown";
    return peer;
  }
  peer.name = text;
  return peer;
}

}  // namespace

Server::Server(runtime::Loop& loop, Options options, Allowance& bodies, Handler handler)
    : loop_(loop),
      options_(std::move(options)),
      bodies_(bodies),
      places_(options_.connections),
      handler_(std::move(handler)),
      sweeper_(loop, [this] { sweep(); }),
      reopen_(loop, [this] { open_doors(); }) {}

Server::~Server() = default;

void Server::add(Listener listener) {
  names_.push_back(listener.name());
  doors_.push_back({std::move(listener), nullptr});
  Door& door = doors_.back();
  door.watch = std::make_unique<runtime::SocketWatch>(
      loop_, door.listener.fd(),
      [this, &door](runtime::SocketWatch::Ready) { accept_from(door.listener); });
  door.watch->want({.read = true});
}

void Server::accept_from(const Listener& listener) {
  for (int i = 0; i < kAcceptAtOnce && !draining_; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    sys::OwnedFd socket(::accept4(listener.fd(), reinterpret_cast<sockaddr*>(&from), &size,
                                  SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      const bool no_room =
          errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (no_room) close_doors_for_a_moment();
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    const int one = 1;
    if (!listener.is_unix()) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Peer peer = peer_of(socket.get(), from);
    if (connections_.size() >= options_.connections + kSpare) {
      Connection* idle = to_be_dropped(0);
      if (!idle) {
        turn_away(socket.get(), peer);
        continue;
      }
      idle->drop();
    }
    connections_.push_back(std::make_unique<Connection>(loop_, std::move(socket), std::move(peer),
                                                        options_.limits, host()));
  }
}

// Said at once, rather than left in the backlog. It fits into the socket's empty buffer.
void Server::turn_away(int socket, const Peer& peer) {
  handler_.refused(peer, 503);
  const Response busy = too_many();
  const std::string text = fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n{}",
      busy.body.size(), busy.body);
  (void)::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// A client that asks how the service is gets an answer, and no client's connections keep another
// out: where there are too many, an idle one of the client who has the most of them is closed.
std::optional<Response> Server::place_for(Connection& connection, const Request& request,
                                          Allowance::Share& place) {
  if (handler_.is_probe && handler_.is_probe(request)) return std::nullopt;
  place = Allowance::Share(places_, connection.client());
  if (!place.resize(1)) return too_many();
  if (connections_.size() <= options_.connections) return std::nullopt;
  Connection* idle = to_be_dropped(connections_of(connection.client()));
  if (!idle) return too_many();
  idle->drop();
  return std::nullopt;
}

size_t Server::connections_of(const std::string& client) const {
  return static_cast<size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [&client](const auto& each) { return each->client() == client; }));
}

// The connection that is idle for the longest, of the client with the most connections, if those
// are more than so many. Null: there is none.
Connection* Server::to_be_dropped(size_t more_than) {
  struct Clients {
    size_t count = 0;
    Connection* idle = nullptr;
  };
  std::unordered_map<std::string_view, Clients> clients;
  for (const auto& each : connections_) {
    Clients& client = clients[each->client()];
    ++client.count;
    if (each->idle() && (!client.idle || each->idle_since() < client.idle->idle_since()))
      client.idle = each.get();
  }
  Clients greediest{more_than, nullptr};
  for (const auto& [name, client] : clients) {
    if (client.idle && client.count > greediest.count) greediest = client;
  }
  return greediest.idle;
}

void Server::set_options(const Options& options) {
  options_ = options;
  places_.set_most(options_.connections);
}

// The descriptors have run out: a listener that is always ready would spin.
void Server::close_doors_for_a_moment() {
  for (Door& door : doors_) door.watch->want({});
  reopen_.start(kMoment);
}

void Server::open_doors() {
  for (Door& door : doors_) door.watch->want({.read = true});
}

void Server::drain() {
  draining_ = true;
  reopen_.stop();
  doors_.clear();
  for (auto each = connections_.begin(); each != connections_.end();) {
    Connection& connection = **each;
    ++each;
    connection.drain();
  }
}

bool Server::busy() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->busy(); });
}

void Server::aside(const std::string& client, std::function<void()> work,
                   std::function<void()> then) {
  if (handler_.aside) return handler_.aside(client, std::move(work), std::move(then));
  work();
  then();
}

void Server::over(Connection& connection) {
  auto found = std::find_if(connections_.begin(), connections_.end(),
                            [&connection](const auto& each) { return each.get() == &connection; });
  if (found == connections_.end()) return;
  graveyard_.splice(graveyard_.end(), connections_, found);
  sweeper_.wake();
}

void Server::sweep() {
  graveyard_.clear();
  handler_.changed();
}

}  // namespace service
