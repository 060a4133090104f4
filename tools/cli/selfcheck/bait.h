#pragma once
// Bait: the targets of attempts on the host, and the means to notice that one was reached. A canary
// file with a secret, a folder and a file that anybody may write, a process, listeners, System V
// objects, a variable of zygo's environment, a descriptor that was left open by mistake.

#include <sys/types.h>

#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "tools/cli/selfcheck/objects.h"

namespace cli {

// One process has one: it changes the environment, which is the process's.
class Bait {
 public:
  // Called before the engine starts, so that whatever leaks into templates has something to leak.
  static sys::Result<Bait> lay();
  Bait(Bait&&) noexcept;
  Bait& operator=(Bait&&) = delete;
  ~Bait();

  std::string facts() const;  // JSON, for the attempts; without the secret
  std::vector<pid_t> processes() const { return {victim_, objects_.keeper()}; }  // our own
  const std::string& secret() const { return secret_; }
  // Reports the damage to the bait since the last call; empty: none. Restores the bait, so that one
  // attempt's damage is not taken for the next one's.
  std::string take_damage();

 private:
  Bait() = default;
  sys::Result<void> make_files();
  sys::Result<void> listen();
  sys::Result<void> start_victim();
  void end_victim();
  std::string take_escaped_files() const;
  bool is_file_as_made() const;
  bool take_visits() const;
  bool is_victim_hurt();

  std::string folder_, secret_, token_, abstract_;
  // Never -1 or 0, which kill(2) takes for everybody.
  static constexpr pid_t kNobody = 0x3fffffff;
  pid_t victim_ = kNobody;
  const char* secret_in_memory_ = nullptr;
  sys::OwnedFd tcp_, udp_, unix_, abstract_listener_;
  int left_open_ = -1;
  int port_ = 0;
  int key_ = 0;
  Objects objects_;
};

}  // namespace cli
