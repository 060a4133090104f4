#include "runtime/cell/zygote.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <span>
#include <utility>

#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sandbox::ImageEntry;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr int kRefusedStatus = 3;        // bootstrap.py: the template's definition is at fault
constexpr int kSignalled = 128;          // plus the signal: sys::Child::wait()
constexpr size_t kTalkLimit = 16 << 10;  // of a template's stderr

std::vector<std::string> launch_command(const ZygotePlan& plan) {
  std::vector<std::string> argv = {plan.launcher,
                                   "--layers",
                                   std::to_string(plan.layers.bits()),
                                   "--id-base",
                                   std::to_string(plan.id_base),
                                   "--id-count",
                                   std::to_string(plan.id_count)};
  if (plan.proc) argv.push_back("--proc");
  if (!plan.fixed.empty()) argv.insert(argv.end(), {"--fixed", plan.fixed});
  if (plan.core_cookie) argv.push_back("--core-cookie");
  if (plan.plain) argv.insert(argv.end(), {"--plain", "--run-as", std::to_string(plan.run_as)});
  for (const ImageEntry& entry : plan.plain ? sandbox::ImagePlan{} : plan.image) {
    constexpr std::array<const char*, 6> kOptions = {"--bind", "--device",    "--symlink",
                                                     "--file", "--directory", "--data"};
    argv.insert(argv.end(),
                {kOptions[static_cast<size_t>(entry.kind)], entry.target, entry.source});
  }
  argv.push_back("--");
  argv.insert(argv.end(), plan.command.begin(), plan.command.end());
  return argv;
}

// Built from nothing. Thread pools of numerical libraries are held at one thread: a zygote must be
// single-threaded to fork.
std::vector<std::string> environment_of(const ZygotePlan& plan) {
  // Any two seeds give two hash orders; python's own random seeding would not be reproducible.
  unsigned hash_seed = 1000003u * (plan.seed + 1) % 4294967291u;
  std::vector<std::string> environment = {"ZYGO_HEAP=" + plan.heap,
                                          "LD_BIND_NOW=1",
                                          "PATH=/usr/local/bin:/usr/bin:/bin",
                                          "HOME=/tmp",
                                          "TMPDIR=/tmp",
                                          "USER=sandbox",
                                          "LOGNAME=sandbox",
                                          "LANG=C.UTF-8",
                                          "PYTHONHASHSEED=" + std::to_string(hash_seed),
                                          "PYTHONDONTWRITEBYTECODE=1",
                                          "OMP_NUM_THREADS=1",
                                          "OPENBLAS_NUM_THREADS=1",
                                          "MKL_NUM_THREADS=1",
                                          "BLIS_NUM_THREADS=1",
                                          "NUMEXPR_NUM_THREADS=1",
                                          "NUMEXPR_MAX_THREADS=1",
                                          "VECLIB_MAXIMUM_THREADS=1",
                                          "MPLBACKEND=Agg"};
  for (const std::string& entry : plan.environment) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(environment, [&name](const std::string& old) { return old.starts_with(name); });
    environment.push_back(entry);
  }
  return environment;
}

}  // namespace

Zygote::Zygote(Loop& loop, std::shared_ptr<TemplateLine> line, std::function<void()> changed)
    : TemplateHandle(std::move(line)), loop_(loop), changed_(std::move(changed)) {}

Zygote::~Zygote() {
  launched_.reset();
  end_ready_.reset();
  launcher_ = sys::Child();  // ended and reaped: it says no more
  // The launcher hands the template over in its first message; that it came is all we know here.
  std::vector<std::byte> bytes(256);
  while (!process_) {
    Result<sys::Received> received = sys::receive_message(line().socket(), bytes, MSG_DONTWAIT);
    if (!received || received->size == 0) break;
    if (received->fds.size() == 1) process_.emplace(std::move(received->fds[0]));
  }
  control_ready_.reset();
  line().hang_up();
}

Result<std::unique_ptr<Zygote>> Zygote::start(Loop& loop, const ZygotePlan& plan,
                                              std::function<void()> changed) {
  sys::SocketPair control = TRY(sys::seqpacket_pair());
  auto line = std::make_shared<TemplateLine>(plan.identity, std::move(control.ours));
  std::unique_ptr<Zygote> zygote(new Zygote(loop, std::move(line), std::move(changed)));
  sys::Pipe talk = TRY(sys::make_pipe());
  OwnedFd null = TRY(sys::open("/dev/null", O_RDWR));
  zygote->launcher_ =
      TRY(sys::spawn({launch_command(plan),
                      environment_of(plan),
                      {null.get(), talk.writer.get(), talk.writer.get(), control.theirs.get()}}));
  zygote->talk_fd_ = std::move(talk.reader);
  Zygote* self = zygote.get();
  zygote->control_ready_ =
      std::make_unique<Readable>(loop, self->line().socket(), [self] { self->on_control(); });
  zygote->talk_ready_ =
      std::make_unique<Readable>(loop, self->talk_fd_.get(), [self] { self->on_talk(); });
  zygote->control_ready_->start();
  zygote->talk_ready_->start();
  return zygote;
}

void Zygote::end() {
  if (state_ != State::kReady && state_ != State::kStarting) return;
  ending_ = true;
  process_ ? process_->kill() : launcher_.kill();
}

// All that has come: an order that was answered must not be found late.
void Zygote::on_control() {
  while (control_ready_->active() && take_message()) {
  }
}

bool Zygote::take_message() {
  std::array<std::byte, kLongestFrame> bytes;
  Result<sys::Received> received = sys::receive_message(line().socket(), bytes, MSG_DONTWAIT);
  if (!received) {
    const int error = received.error().code();
    // No descriptor was left for the pidfd of a cell, which goes by itself when we hang up.
    if (error == EMSGSIZE && process_ && line().has_orders()) {
      line().fail_first(EMFILE);
    } else if (error != EAGAIN) {
      ended();
    }
    return error != EAGAIN;
  }
  const auto frame =
      decode_template_frame(std::span(bytes).first(received->size), received->fds.size());
  if (frame) {
    on_frame(*frame, std::move(received->fds));
  } else {
    ended();
  }
  return true;
}

void Zygote::on_frame(const TemplateFrame& frame, std::vector<OwnedFd> fds) {
  if (std::holds_alternative<shim::TemplateBorn>(frame)) {
    if (process_) return ended();
    process_.emplace(std::move(fds[0]));
    if (ending_) process_->kill();
    return;
  }
  if (const auto* ready = std::get_if<shim::TemplateReady>(&frame)) {
    if (state_ != State::kStarting || !process_) return ended();
    line().begin(ready->in_place != 0);
    // Its work was done before this process could begin.
    launched_ = std::make_unique<Readable>(loop_, launcher_.pidfd(), [this] {
      launched_->stop();
      (void)launcher_.reap();
    });
    launched_->start();
    state_ = State::kReady;
    return changed_();
  }
  const auto& born = std::get<shim::CellBorn>(frame);
  std::optional<TemplateLine::Born> answer = line().take(born.cell);
  if (!answer) return ended();
  (*answer)(born, fds.empty() ? OwnedFd() : std::move(fds[0]));
}

void Zygote::on_talk() {
  char chunk[4096];
  ssize_t n = ::read(talk_fd_.get(), chunk, sizeof chunk);
  if (n > 0) {
    talk_.append(chunk, static_cast<size_t>(n));
    if (talk_.size() > kTalkLimit) talk_.erase(0, talk_.size() - kTalkLimit);
  } else if (n == 0) {
    talk_ready_->stop();
  }
}

// The control socket is closed: the launcher or the template ends. That takes long where a template
// has much memory or many cells, so the loop does not wait for it.
void Zygote::ended() {
  control_ready_->stop();
  line().end_orders();
  if (process_) process_->kill();  // no-op when it is gone; one that closed its socket is of no use
  const sys::Child& child = process_ ? *process_ : launcher_;  // that could not make the other
  end_ready_ = std::make_unique<Readable>(loop_, child.pidfd(), [this, &child] {
    end_ready_->stop();
    const Result<int> status = child.reap();
    conclude(status.ok() ? *status : 0);
  });
  end_ready_->start();
}

// The process is gone. The last that it said is the reason.
void Zygote::conclude(int status) {
  talk_ready_->stop();
  killed_ = status > kSignalled && status <= kSignalled + SIGRTMAX;
  error_ = shim::error_of_launch(status);
  ::fcntl(talk_fd_.get(), F_SETFL, O_NONBLOCK);
  char chunk[4096];
  for (ssize_t n; (n = ::read(talk_fd_.get(), chunk, sizeof chunk)) > 0;)
    talk_.append(chunk, static_cast<size_t>(n));
  while (!talk_.empty() && talk_.back() == '\n') talk_.pop_back();
  state_ = status == kRefusedStatus ? State::kRefused : State::kFailed;
  reason_ = talk_.empty() ? "template ended with status " + std::to_string(status) : talk_;
  while (line().has_orders()) line().fail_first(ECHILD);
  changed_();
}

}  // namespace runtime
