#include "tools/cli/cluster/config_reader.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

#include "sandbox/supervisor.h"
#include "sandbox/sys/file.h"
#include "tools/cli/serve/reload.h"

namespace cli {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr int kPatienceSeconds = 30;

// In front of each answer.
struct AnswerHead {
  uint64_t size = 0;
  bool is_error = false;
};

// False: the other side is gone.
bool receive(int channel, void* into, size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = ::recv(channel, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::string bytes_of(const AnswerHead& head) {
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

[[noreturn]] void answer_wishes(int channel, const CommandLine& line) {
  // A terminal and a service manager send their signals to all processes.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(each, SIG_IGN);
  ::prctl(PR_SET_NAME, "zygo-config");
  // Nobody of its user reads its memory, or writes to it: the router may be somebody else's by now.
  if (!sandbox::harden_supervisor()) ::_exit(1);
  char wish = 0;
  while (receive(channel, &wish, 1)) {
    const Result<std::string> found = reread(line, 1);
    const std::string text = found ? *found : found.error().text();
    const AnswerHead head{.size = text.size(), .is_error = !found};
    if (!sys::write_all(channel, bytes_of(head) + text)) break;
  }
  ::_exit(0);
}

}  // namespace

Result<ConfigReader> ConfigReader::start(const CommandLine& line) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return Error::from_errno("a channel to the reader of the configuration");
  OwnedFd ours(ends[0]), theirs(ends[1]);
  // A file may lie on a disk that does not answer, and a router that ends waits for its threads.
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
    return Error::from_errno("a channel to the reader of the configuration");
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork the reader of the configuration");
  if (child == 0) {
    ours.reset();  // its end is how the child hears of ours
    answer_wishes(theirs.get(), line);
  }
  return ConfigReader(std::move(ours));
}

Result<service::ReloadableConfig> ConfigReader::read() const {
  AnswerHead head;
  std::string text;
  const auto ask = [&] {
    if (::send(channel_.get(), "", 1, MSG_NOSIGNAL) != 1) return false;
    if (!receive(channel_.get(), &head, sizeof head)) return false;
    text.resize(head.size);
    return receive(channel_.get(), text.data(), text.size());
  };
  if (!ask()) {
    ::shutdown(channel_.get(), SHUT_RDWR);  // what comes late would be taken for another answer
    return Error::because("it was not read in time, or its reader has ended: restart the router");
  }
  if (head.is_error) return Error::because(text);
  return config_in(text);
}

}  // namespace cli
