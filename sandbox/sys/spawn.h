#pragma once
// Starts a program of the host: with an environment made from nothing, named descriptors and a
// session of its own. The child is held by pidfd, so it is never confused with a recycled pid
// (pidfd_open, Linux 5.3).

#include <signal.h>

#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace sys {

// Sole right to signal and reap one process. Dropping it kills and reaps.
class Child {
 public:
  Child() = default;
  explicit Child(OwnedFd pidfd) : pidfd_(std::move(pidfd)) {}
  Child(Child&&) noexcept = default;
  Child& operator=(Child&& other) noexcept {
    Child old(std::move(*this));
    pidfd_ = std::move(other.pidfd_);
    return *this;
  }
  ~Child();

  int pidfd() const { return pidfd_.get(); }
  explicit operator bool() const { return static_cast<bool>(pidfd_); }
  void kill(int signal = SIGKILL) const;
  // Waits for the end: exit status, or 128 + signal. The child is owned no more.
  Result<int> wait();
  // The same, and keeps the descriptor, which a loop may still watch. Another call is an error.
  Result<int> reap() const;

 private:
  OwnedFd pidfd_;
};

struct SpawnRequest {
  std::vector<std::string> argv;         // argv[0] is the path, if `program` is not
  std::vector<std::string> environment;  // NAME=value
  std::vector<int> descriptors;          // become 0, 1, 2, ... of the child; the rest is closed
  std::string program = {};              // the path, where argv[0] is another name
};
Result<Child> spawn(const SpawnRequest& request);

struct SpawnOutput {
  int status = 0;
  std::string text;
};
// Runs to the end and gives its stdout; stderr passes through. For short, trusted programs.
Result<SpawnOutput> run_and_read(const std::vector<std::string>& argv);

}  // namespace sys
