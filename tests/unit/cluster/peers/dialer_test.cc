// A process that connects for another.

#include "cluster/peers/dialer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "sandbox/sys/socket.h"
#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

constexpr sys::Milliseconds kPatience{10'000}, kForLong{3'600'000};

struct Listening {
  sys::OwnedFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  JoinUrl url;

  Listening() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::bind(socket.get(), address, sizeof at) == 0);
    REQUIRE(::getsockname(socket.get(), address, &length) == 0);
    url = {.host = "127.0.0.1", .port = ntohs(at.sin_port)};
  }
  void listen() const { REQUIRE(::listen(socket.get(), 16) == 0); }
};

// What starts processes is a child of this one, and ends when its channel is closed.
struct Reaped {
  ~Reaped() {
    while (::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

struct Dialing {
  Reaped last;
  runtime::Loop loop;
  bool is_gone = false;  // what starts processes
  DialerProcesses processes;
  std::vector<std::string> losses;
  std::vector<sys::Result<sys::OwnedFd>> got;
  Dialer dialer;

  explicit Dialing(const JoinUrl& to, sys::Milliseconds known = kForLong)
      : processes(loop, process_for(to), [this] { is_gone = true; }),
        dialer(loop,
               {.start = [this](auto then) { processes.start_one(0, std::move(then)); },
                .lost = [this](const sys::Error& why) { losses.push_back(why.text()); }},
               known) {}
  static sys::OwnedFd process_for(const JoinUrl& to) {
    auto process = DialerProcesses::start({to}, kPatience);
    REQUIRE(process);
    return std::move(process).value();
  }
  // Its process, when there is one that is not `other`.
  int pid(int other = 0) {
    turn_until(loop, [&] { return dialer.pid() != 0 && dialer.pid() != other; });
    return dialer.pid();
  }
  void dial(bool wanted = true) {
    dialer.dial([wanted] { return wanted; },
                [this](auto socket) { got.push_back(std::move(socket)); });
  }
  void until(size_t count) {
    turn_until(loop, [&] { return got.size() >= count; });
  }
};

}  // namespace

TEST_CASE("a dialer hands over a socket for each that asks", "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url);
  for (int i = 0; i < 3; ++i) dialing.dial();
  dialing.until(3);
  for (const auto& socket : dialing.got) {
    REQUIRE(socket);
    sys::OwnedFd accepted(::accept4(listening.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    CHECK(::send(accepted.get(), "x", 1, 0) == 1);
  }
  for (const auto& socket : dialing.got) {
    char byte = 0;
    while (::recv(socket->get(), &byte, 1, 0) < 0) REQUIRE(errno == EAGAIN);
    CHECK(byte == 'x');
  }
  CHECK_FALSE(dialing.dialer.is_away());
}

TEST_CASE("an address that does not answer is told to all who wait, and for a while after",
          "[cluster][peers]") {
  Listening silent;  // bound, and nobody listens
  Dialing dialing(silent.url);
  dialing.dial();
  dialing.dial();
  dialing.until(2);
  const std::string why = dialing.got[0].error().text();
  CHECK(why == silent.url.text() + ": connect: Connection refused");
  CHECK(dialing.got[1].error().text() == why);
  CHECK(dialing.dialer.is_away());
  dialing.dial();  // answered at once, without a turn of the loop
  REQUIRE(dialing.got.size() == 3);
  CHECK(dialing.got[2].error().text() == why);
}

TEST_CASE("a dialer tries again when what it knows is old", "[cluster][peers]") {
  Listening listening;
  Dialing dialing(listening.url, sys::Milliseconds(10));
  dialing.dial();
  dialing.until(1);
  CHECK_FALSE(dialing.got[0]);
  listening.listen();
  turn_until(dialing.loop, [&] { return !dialing.dialer.is_away(); });
  dialing.dial();
  dialing.until(2);
  CHECK(dialing.got[1]);
}

TEST_CASE("a dialer does nothing for who has left", "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url);
  dialing.dial();
  dialing.dial(false);
  dialing.dial();
  dialing.until(2);
  sys::OwnedFd first(::accept(listening.socket.get(), nullptr, nullptr)),
      second(::accept(listening.socket.get(), nullptr, nullptr));
  CHECK(second);
  REQUIRE(::fcntl(listening.socket.get(), F_SETFL, O_NONBLOCK) == 0);
  CHECK(::accept(listening.socket.get(), nullptr, nullptr) == -1);
}

TEST_CASE("no room for a socket is an error once, and no end", "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url, sys::Milliseconds(0));
  (void)dialing.pid();  // its process is there
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const sys::OwnedFd highest(::dup(0));
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(highest.get()) + 1;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  dialing.dial();
  dialing.until(1);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(dialing.got[0]);
  dialing.dial();
  dialing.until(2);
  CHECK(dialing.got[1]);
}

TEST_CASE("a dialer whose process is killed gets another one", "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url);
  const int first = dialing.pid();

  REQUIRE(::kill(first, SIGKILL) == 0);
  const int second = dialing.pid(first);
  dialing.dial();
  dialing.until(1);

  CHECK(second != first);
  CHECK(dialing.got[0]);
  CHECK_FALSE(dialing.dialer.is_away());
  CHECK(dialing.losses == std::vector<std::string>{"process " + std::to_string(first) +
                                                   ", which connects, has ended; another one is "
                                                   "started"});
}

TEST_CASE("who waits for a connection hears of the end of the process at once",
          "[cluster][peers]") {
  Listening listening;
  listening.listen();
  Dialing dialing(listening.url);
  const int process = dialing.pid();
  REQUIRE(::kill(process, SIGSTOP) == 0);
  dialing.dial();
  dialing.dial();

  REQUIRE(::kill(process, SIGKILL) == 0);
  dialing.until(2);

  for (const auto& socket : dialing.got) {
    REQUIRE_FALSE(socket);
    CHECK_THAT(socket.error().text(), Catch::Contains("has ended"));
  }
  CHECK(dialing.dialer.is_away());
}

TEST_CASE("where nothing can start a process any more, a dialer says so and the others go on",
          "[cluster][peers]") {
  Listening listening;
  listening.listen();
  runtime::Loop loop;
  bool is_gone = false;
  sys::SocketPair pair = std::move(sys::seqpacket_pair()).value();
  DialerProcesses processes(loop, std::move(pair.ours), [&] { is_gone = true; });
  std::vector<std::string> losses;
  Dialer dialer(loop, {.start = [&](auto then) { processes.start_one(0, std::move(then)); },
                       .lost = [&](const sys::Error& why) { losses.push_back(why.text()); }});

  pair.theirs.reset();
  turn_until(loop, [&] { return !losses.empty(); });

  CHECK(is_gone);
  CHECK(dialer.is_away());
  CHECK_THAT(losses[0], Catch::Contains("start this service again"));
  std::string answer;
  dialer.dial([] { return true; }, [&](auto socket) { answer = socket.error().text(); });
  CHECK(answer == losses[0]);
}

TEST_CASE("pauses before a process is started again double, up to a bound", "[cluster][peers]") {
  CHECK(Dialer::pause_after(0) == Dialer::kFirstPause);
  CHECK(Dialer::pause_after(1) == 2 * Dialer::kFirstPause);
  CHECK(Dialer::pause_after(3) == 8 * Dialer::kFirstPause);
  CHECK(Dialer::pause_after(9) == Dialer::kLongestPause);
  CHECK(Dialer::pause_after(4'000'000'000) == Dialer::kLongestPause);
}

}  // namespace cluster
