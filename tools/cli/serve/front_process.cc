#include "tools/cli/serve/front_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "tools/cli/options.h"

namespace cli {
namespace {

constexpr const char* kOurselves = "/proc/self/exe";
constexpr sys::Milliseconds kFirstPause{100}, kLongestPause{5'000};
constexpr sys::Milliseconds kToEnd{10'000};  // without a channel

std::vector<std::string> our_environment() {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) all.emplace_back(*each);
  return all;
}

}  // namespace

FrontProcess::FrontProcess(runtime::Engine& engine, runtime::Loop& loop, Options options)
    : engine_(engine),
      loop_(loop),
      options_(std::move(options)),
      again_(loop,
             [this] {
               if (const auto started = start(); !started) {
                 options_.log(started.error().text());
                 start_again(kExitSandbox);
               }
             }),
      too_late_(loop, [this] { child_.kill(); }) {}

runtime::EngineHost::Options FrontProcess::host_options() {
  runtime::EngineHost::Options options = options_.host;
  options.tell = [this](runtime::ServiceState state) {
    if (state == runtime::ServiceState::kReady) {
      was_ready_ = true;
      pause_ = {};
    }
    options_.host.tell(state);
  };
  options.over = [this](const std::string& breach) {
    if (breach.empty()) return too_late_.start(kToEnd);  // it is about to end
    options_.log("the front is ended, because it has sent " + breach);
    child_.kill();
  };
  return options;
}

sys::Result<void> FrontProcess::start() {
  sys::SocketPair pair = TRY(sys::seqpacket_pair());
  const sys::OwnedFd null = TRY(sys::open("/dev/null", O_RDONLY));
  sys::SpawnRequest request{
      .argv = options_.arguments,
      .environment = our_environment(),
      .descriptors = {null.get(), STDOUT_FILENO, STDERR_FILENO, pair.theirs.get()},
      .program = kOurselves};
  request.descriptors.insert(request.descriptors.end(), options_.listeners.begin(),
                             options_.listeners.end());
  auto host = TRY(runtime::EngineHost::start(engine_, loop_, std::move(pair.ours), host_options()));
  child_ = TRY(sys::spawn(request));
  host_ = std::move(host);  // only with a process: stop() waits for its end
  exit_ = std::make_unique<runtime::Readable>(loop_, child_.pidfd(), [this] { on_exit(); });
  exit_->start();
  return {};
}

void FrontProcess::on_exit() {
  exit_.reset();
  too_late_.stop();
  const sys::Result<int> waited = child_.wait();
  const int code = waited ? *waited : kExitSandbox;
  host_.reset();
  if (stopping_ || !was_ready_) return options_.ended(code);
  start_again(code);
}

// The work that the front had accepted is lost, but for durable jobs; the sockets stay open.
void FrontProcess::start_again(int code) {
  const std::string how =
      code > 128 ? fmt::format("signal {}", code - 128) : fmt::format("exit code {}", code);
  options_.log(fmt::format("the front has ended ({}) and is started again", how));
  again_.start(pause_);
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
}

void FrontProcess::reload() {
  if (host_) host_->reload();
}

void FrontProcess::stop() {
  if (std::exchange(stopping_, true)) return;
  if (host_) return host_->stop();
  again_.stop();
  options_.ended(kExitOk);
}

}  // namespace cli
