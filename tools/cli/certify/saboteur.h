#pragma once
// Saboteur: kills cells, holders and templates of an engine, and its daemon, at random, as a host
// that is short of memory might. It never kills a job itself: that would be an end of the program,
// which its label rightly tells. A thread of its own; who is killed is decided by pure functions.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "sandbox/sys/units.h"
#include "tools/cli/certify/dice.h"

namespace cli {

// What /proc/PID/status says of a process.
struct ProcessStatus {
  bool is_alive = false;     // neither a zombie nor gone
  std::vector<int> numbers;  // NSpid: in each pid namespace, from ours to its own
  bool operator==(const ProcessStatus&) const = default;
};
ProcessStatus parse_status(std::string_view text);

// By its depth below the daemon: templates are 1, their cells 2, holders and jobs 3.
bool is_target(unsigned depth, const ProcessStatus& status);

class Saboteur {
 public:
  // Asked and called on the saboteur's thread.
  struct Daemon {
    std::function<pid_t()> pid;  // of the one that lives; 0: there is none
    std::function<bool()> kill;  // false: there was none
  };
  // One daemon is killed in each of these, at some time of it: what it takes along would otherwise
  // hardly ever end.
  static constexpr std::chrono::seconds kDaemonLives{10};

  Saboteur(uint64_t seed, Daemon daemon);
  ~Saboteur();
  Saboteur(const Saboteur&) = delete;
  Saboteur& operator=(const Saboteur&) = delete;

  void stop();                             // nobody is killed any more once it returns
  size_t kills() const { return kills_; }  // of the others
  size_t daemon_kills() const { return daemon_kills_; }

 private:
  void work();
  bool pause();
  bool kill_one();
  void draw_daemon_kill();

  Dice dice_;
  const Daemon daemon_;
  std::chrono::steady_clock::time_point turn_ = std::chrono::steady_clock::now();  // of a daemon
  std::chrono::steady_clock::time_point daemon_due_;
  // The time that it takes to look for somebody does not count.
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now();
  std::atomic<size_t> kills_{0}, daemon_kills_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cli
