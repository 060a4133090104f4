#include "tools/cli/certify/saboteur.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "runtime/host/proc.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

constexpr double kMeanSeconds = 0.2;  // five a second
constexpr unsigned kTemplates = 1, kCells = 2, kBelowCells = 3;
constexpr int kFirstHolder = 30000;  // shim/borrow/holder.cc: no job has such a number

struct Target {
  int pid, parent;
  unsigned depth;
};

ProcessStatus status_of(int pid) {
  const auto text = sys::read_file("/proc/" + std::to_string(pid) + "/status", 1 << 14);
  return text ? parse_status(*text) : ProcessStatus{};
}

void add_targets_below(int parent, unsigned depth, std::vector<Target>& found) {
  for (const int pid : runtime::descendants_of(parent, runtime::Offspring::kChildren)) {
    if (is_target(depth, status_of(pid))) found.push_back({pid, parent, depth});
    if (depth < kBelowCells) add_targets_below(pid, depth + 1, found);
  }
}

}  // namespace

ProcessStatus parse_status(std::string_view text) {
  ProcessStatus status;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    at = end + 1;
    if (line.starts_with("State:")) {
      const size_t letter = line.find_first_not_of(" \t", 6);
      status.is_alive = letter != line.npos && line[letter] != 'Z' && line[letter] != 'X';
    }
    if (!line.starts_with("NSpid:")) continue;
    const char* rest = line.c_str() + 6;
    char* behind = nullptr;
    for (long number = std::strtol(rest, &behind, 10); behind != rest;
         number = std::strtol(rest, &behind, 10)) {
      status.numbers.push_back(static_cast<int>(number));
      rest = behind;
    }
  }
  return status;
}

bool is_target(unsigned depth, const ProcessStatus& status) {
  if (!status.is_alive) return false;
  if (depth == kTemplates || depth == kCells) return true;
  const std::vector<int>& numbers = status.numbers;
  return depth == kBelowCells && numbers.size() > 1 &&
         std::any_of(numbers.begin() + 1, numbers.end(),
                     [](int number) { return number >= kFirstHolder; });
}

Saboteur::Saboteur(uint64_t seed, Daemon daemon) : dice_(seed), daemon_(std::move(daemon)) {
  draw_daemon_kill();
  thread_ = std::thread([this] { work(); });
}

Saboteur::~Saboteur() { stop(); }

void Saboteur::stop() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Saboteur::work() {
  while (pause()) {
    if (std::chrono::steady_clock::now() < daemon_due_) {
      if (kill_one()) ++kills_;
      continue;
    }
    if (daemon_.kill()) ++daemon_kills_;
    turn_ = std::max(turn_ + kDaemonLives, daemon_due_);
    draw_daemon_kill();
  }
}

void Saboteur::draw_daemon_kill() {
  const std::chrono::duration<double> lives = kDaemonLives * dice_.share();
  daemon_due_ = turn_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(lives);
}

// False: it is over.
bool Saboteur::pause() {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> time(dice_.wait(kMeanSeconds));
  due_ = std::max(due_ + std::chrono::duration_cast<Clock::duration>(time), Clock::now());
  std::unique_lock lock(mutex_);
  return !ended_.wait_until(lock, due_, [this] { return ending_; });
}

// The number of a process that has gone may be another's by now, so it is looked at once more
// through a descriptor that holds on to it.
bool Saboteur::kill_one() {
  std::vector<Target> targets;
  const pid_t daemon = daemon_.pid();
  if (daemon == 0) return false;
  add_targets_below(daemon, kTemplates, targets);
  if (targets.empty()) return false;
  const Target& chosen = targets[dice_.below(targets.size())];
  const sys::OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, chosen.pid, 0)));
  if (!handle || runtime::parent_of(chosen.pid) != chosen.parent) return false;
  return is_target(chosen.depth, status_of(chosen.pid)) && runtime::kill_by_pidfd(handle.get());
}

}  // namespace cli
