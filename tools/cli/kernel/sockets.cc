#include "tools/cli/kernel/sockets.h"

#include <fmt/format.h>

#include <cerrno>

namespace cli {

namespace {

constexpr std::array<int, kChannels> kTypes{ZMQ_ROUTER, ZMQ_PUB, ZMQ_ROUTER, ZMQ_ROUTER,
                                            ZMQ_ROUTER};
constexpr int64_t kMostFrame = int64_t{256} << 20;
constexpr int kLingerMs = 1000;  // for what is on its way to clients at the end

}  // namespace

sys::Error Sockets::failed(std::string_view what) const {
  return sys::Error::because(fmt::format("{}: {}", what, zmq_.words_of(zmq_.last_error())));
}

sys::Result<void> Sockets::open(Channel channel, const std::string& endpoint) {
  const auto index = static_cast<size_t>(channel);
  void* const made = zmq_.new_socket(context_, kTypes[index]);
  if (!made) return failed("a socket of ZeroMQ");
  sockets_[index] = made;
  const int no_limit = 0;  // a slow client loses no output
  const int own_network = endpoint.find('[') != endpoint.npos ? 1 : 0;
  zmq_.set_option(made, ZMQ_LINGER, &kLingerMs, sizeof kLingerMs);
  zmq_.set_option(made, ZMQ_MAXMSGSIZE, &kMostFrame, sizeof kMostFrame);
  zmq_.set_option(made, ZMQ_SNDHWM, &no_limit, sizeof no_limit);
  zmq_.set_option(made, ZMQ_IPV6, &own_network, sizeof own_network);
  if (zmq_.bind(made, endpoint.c_str()) != 0) return failed("listen on " + endpoint);
  return {};
}

sys::Result<std::unique_ptr<Sockets>> Sockets::bind(const ConnectionFile& file) {
  const ZmqLibrary zmq = TRY(ZmqLibrary::load());
  std::unique_ptr<Sockets> made(new Sockets(zmq));
  made->context_ = zmq.new_context();
  if (!made->context_) return made->failed("a context of ZeroMQ");
  for (size_t i = 0; i < kChannels; ++i)
    TRY(made->open(static_cast<Channel>(i), file.endpoints[i]));
  return made;
}

Sockets::~Sockets() {
  for (void* const each : sockets_) {
    if (each) zmq_.close(each);
  }
  if (context_) zmq_.end_context(context_);
}

std::optional<Frames> Sockets::receive(Channel channel) {
  Frames frames;
  for (int more = 1; more != 0;) {
    zmq_msg_t part;
    zmq_.init_message(&part);
    if (zmq_.receive(&part, at(channel), ZMQ_DONTWAIT) < 0) {
      zmq_.close_message(&part);
      return std::nullopt;
    }
    frames.emplace_back(static_cast<const char*>(zmq_.data_of(&part)), zmq_.size_of(&part));
    zmq_.close_message(&part);
    size_t size = sizeof more;
    if (zmq_.get_option(at(channel), ZMQ_RCVMORE, &more, &size) != 0) more = 0;
  }
  return frames;
}

void Sockets::send(Channel channel, const Frames& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    while (zmq_.send(at(channel), frames[i].data(), frames[i].size(), ZMQ_DONTWAIT | more) < 0) {
      if (zmq_.last_error() != EINTR) return;
    }
  }
}

// What comes goes back as it is; that of a REQ socket has an empty part behind its identity.
void Sockets::answer_heartbeats() {
  while (const std::optional<Frames> beat = receive(Channel::kHeartbeat))
    send(Channel::kHeartbeat, *beat);
}

void Sockets::wait(std::vector<Watched>& others) {
  std::vector<zmq_pollitem_t> items;
  for (const Channel channel :
       {Channel::kControl, Channel::kStdin, Channel::kHeartbeat, Channel::kShell})
    items.push_back({at(channel), 0, ZMQ_POLLIN, 0});
  const size_t before = items.size();
  for (const Watched& other : others) {
    if (other.fd >= 0) items.push_back({nullptr, other.fd, other.events, 0});
  }
  if (zmq_.poll(items.data(), static_cast<int>(items.size()), -1) < 0) {
    for (zmq_pollitem_t& item : items) item.revents = 0;
  }
  size_t at_item = before;
  for (Watched& other : others) other.ready = other.fd >= 0 && items[at_item++].revents != 0;
  answer_heartbeats();
}

}  // namespace cli
