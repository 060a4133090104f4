#include "tools/cli/certify/daemons.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "runtime/host/proc.h"
#include "runtime/judging/judge.h"
#include "runtime/remote/job_wire.h"
#include "runtime/remote/wire.h"
#include "sandbox/sys/socket.h"

namespace cli {
namespace {

using runtime::Engine;
using runtime::JobResult;
using runtime::WireReader;
using runtime::WireWriter;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

constexpr uint8_t kSubmit = 1, kCancel = 2;

// ---- frames: a size and so many bytes, between two processes of one program

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool send_frame(int socket, std::string_view frame) {
  const uint64_t size = frame.size();
  return send_all(socket, {reinterpret_cast<const char*>(&size), sizeof size}) &&
         send_all(socket, frame);
}

bool receive_all(int socket, char* into, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, into, size, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// False: the other side is gone.
bool receive_frame(int socket, std::string& frame) {
  uint64_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size)) return false;
  frame.resize(size);
  return receive_all(socket, frame.data(), size);
}

Result<sys::SocketPair> stream_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0)
    return Error::from_errno("socketpair");
  return sys::SocketPair{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

// ---- in a daemon

void take_order(Engine& engine, int socket, std::mutex& sending, std::string_view frame) {
  WireReader in(frame);
  uint8_t kind = 0;
  uint64_t number = 0;
  in(kind, number);
  if (kind == kCancel) return engine.cancel_all();
  runtime::Job job;
  if (!in.ok() || !runtime::read_job(in, job)) return;
  engine.submit(std::move(job), [socket, &sending, number](const JobResult& result) {
    WireWriter out;
    out(number);
    runtime::write_result(result, out);
    std::lock_guard lock(sending);
    (void)send_frame(socket, out.bytes());
  });
}

// Ends with whoever has the other end of the socket.
[[noreturn]] void serve(OwnedFd socket, const Daemons::Start& start) {
  WireWriter hello;
  auto engine = start();
  if (!engine) {
    hello(false, engine.error().text());
    (void)send_frame(socket.get(), hello.bytes());
    ::_exit(1);
  }
  const Engine::Standing standing = (*engine)->standing();
  hello(true, (*engine)->workers(), static_cast<uint8_t>(standing.level), standing.layers.bits());
  (void)send_frame(socket.get(), hello.bytes());
  std::mutex sending;
  for (std::string frame; receive_frame(socket.get(), frame);)
    take_order(**engine, socket.get(), sending, frame);
  engine->reset();
  ::_exit(0);
}

// ---- in the nursery

[[noreturn]] void nurse(const OwnedFd& control, const Daemons::Start& start) {
  for (;;) {
    std::array<std::byte, 1> wish{};
    auto received = sys::receive_message(control.get(), wish);
    if (!received || received->fds.empty()) ::_exit(0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(std::move(received->fds.front()), start);
    }
    OwnedFd handle(daemon < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0)));
    const std::array<int, 1> fds{handle.get()};
    if (!handle || !sys::send_message(control.get(), wish, fds)) ::_exit(1);
    handle.reset();
    received->fds.clear();
    while (::waitpid(daemon, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace

Result<std::unique_ptr<Daemons>> Daemons::open(const Start& start) {
  sys::SocketPair control = TRY(sys::seqpacket_pair());
  const pid_t nursery = ::fork();
  if (nursery < 0) return Error::from_errno("fork");
  if (nursery == 0) {
    control.ours.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    nurse(control.theirs, start);
  }
  std::unique_ptr<Daemons> daemons(new Daemons);
  daemons->nursery_ = std::move(control.ours);
  daemons->nursery_pid_ = nursery;
  TRY(daemons->start_one());
  daemons->thread_ = std::thread([self = daemons.get()] { self->work(); });
  return daemons;
}

Daemons::~Daemons() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
  }
  if (thread_.joinable()) thread_.join();
  if (handle_) {
    pollfd gone{handle_.get(), POLLIN, 0};
    while (::poll(&gone, 1, -1) < 0 && errno == EINTR) {
    }
  }
  nursery_.reset();
  while (::waitpid(nursery_pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Waits for its first word.
Result<void> Daemons::start_one() {
  sys::SocketPair pair = TRY(stream_pair());
  const std::array<int, 1> fds{pair.theirs.get()};
  std::array<std::byte, 1> word{};
  TRY(sys::send_message(nursery_.get(), word, fds));
  pair.theirs.reset();
  sys::Received born = TRY(sys::receive_message(nursery_.get(), word));
  if (born.fds.empty()) return Error::because("no daemon could be started");
  std::string frame;
  bool is_ready = false;
  if (!receive_frame(pair.ours.get(), frame)) return Error::because("the daemon has ended");
  WireReader in(frame);
  in(is_ready);
  std::string why;
  if (!is_ready) {
    in(why);
    return Error::because(why);
  }
  uint8_t level = 0;
  uint32_t layers = 0;
  in(workers_, level, layers);
  standing_ = {static_cast<sandbox::Level>(level), sandbox::Layers::from_bits(layers)};
  std::lock_guard lock(mutex_);
  socket_ = std::move(pair.ours);
  handle_ = std::move(born.fds.front());
  pid_ = runtime::pid_of_pidfd(handle_.get());
  if (ending_) ::shutdown(socket_.get(), SHUT_RDWR);
  return {};
}

// The thread: a daemon after another.
void Daemons::work() {
  for (;;) {
    read_results();
    Jobs lost;
    bool ending = false;
    {
      std::lock_guard lock(mutex_);
      lost = std::exchange(jobs_, {});
      socket_.reset();
      pid_ = 0;
      ending = ending_;
    }
    if (!ending) ending = !start_one().ok();
    fail(std::move(lost), "the daemon has ended");
    if (ending) return;
  }
}

void Daemons::read_results() {
  const int socket = socket_.get();  // which this thread alone replaces
  for (std::string frame; receive_frame(socket, frame);) take(frame);
}

void Daemons::take(std::string_view frame) {
  WireReader in(frame);
  uint64_t number = 0;
  JobResult result;
  in(number);
  if (!runtime::read_result(in, result)) return;
  Jobs::node_type waiting;
  {
    std::lock_guard lock(mutex_);
    waiting = jobs_.extract(number);
  }
  if (waiting) waiting.mapped().done(std::move(result));
}

void Daemons::fail(Jobs lost, const char* why) {
  for (auto& [number, waiting] : lost) {
    JobResult result;
    result.id = waiting.id;
    result.tag = waiting.tag;
    runtime::give_up(result, {shim::Step::kSendOrder, EPIPE, why});
    waiting.done(std::move(result));
  }
}

// A job whose bytes do not arrive is lost with the daemon.
void Daemons::submit(runtime::Job job, std::function<void(JobResult)> done) {
  Jobs none;
  {
    std::lock_guard lock(mutex_);
    const uint64_t number = ++last_;
    Waiting waiting{job.id, job.tag, std::move(done)};
    WireWriter out;
    out(kSubmit, number);
    runtime::write_job(job, out);
    if (socket_) {
      jobs_.emplace(number, std::move(waiting));
      (void)send_frame(socket_.get(), out.bytes());
    } else {
      none.emplace(number, std::move(waiting));
    }
  }
  fail(std::move(none), "there is no daemon");
}

void Daemons::cancel_all() {
  WireWriter out;
  out(kCancel, uint64_t{0});
  std::lock_guard lock(mutex_);
  if (socket_) (void)send_frame(socket_.get(), out.bytes());
}

pid_t Daemons::pid() {
  std::lock_guard lock(mutex_);
  return pid_;
}

bool Daemons::kill() {
  std::lock_guard lock(mutex_);
  return pid_ != 0 && runtime::kill_by_pidfd(handle_.get());
}

}  // namespace cli
