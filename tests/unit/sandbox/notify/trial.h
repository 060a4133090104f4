#pragma once
// A real process under a real filter: what it tries, what it is told, what is named.

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/notify/notify.h"
#include "sandbox/seccomp/seccomp.h"

namespace sandbox::test {

constexpr int kSkipped = 77;

// A directory on /dev/shm, as the scratch of a cell; nothing else on the test's machine is scratch.
class Scratch {
 public:
  Scratch() : path_(::mkdtemp(name_)) {}
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  uint64_t device() const {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 ? status.st_dev : 0;
  }

 private:
  char name_[32] = "/dev/shm/zygo-test-XXXXXX";
  std::string path_;
};

struct Seen {
  int code = -1;  // exit code of the child
  int signal = 0;
  std::vector<std::string> refused;  // "call argument"
  std::vector<Ruling> asked;         // rulings that asked, as rule() gave them
  int proceeded = 0;
  int quiet = 0;
  int looked_at = 0;  // because registers did not tell
};

struct Trial {
  Profile profile = Profile::kDefault;
  uint64_t scratch_device = 0;
  std::string scratch_path = {};       // where it is no file system of its own
  std::optional<uint32_t> owner = {};  // as CellView has it
  bool child_is_init = false;
  std::function<bool()> prepare = [] { return true; };  // in the child, before the filter
  FilterVariant variant = {};
  // The daemon's answer when it is asked; as it stands, a ruling that asks refuses.
  std::function<Ruling(const Ruling&)> decide = [](const Ruling& asked) { return asked; };
};

// The child's half: waits for one byte on `socket` after it has sent the listener, then runs
// `program` under `filter`; its exit code is the program's, or kSkipped where the host will not.
[[noreturn]] void live_under(const std::string& filter, const Trial& trial, int socket,
                             const std::function<int()>& program);

Seen watch(const Trial& trial, const std::function<int()>& program);

// Says so loudly.
bool skipped(const Seen& seen);

using Words = std::vector<std::string>;

// A child calls this: it says what went wrong, in words for the log; a program then ends with 1.
int failed(const char* file, int line);
#define EXPECT_ERROR(error, call) \
  if ((call) >= 0 || errno != (error)) return failed(__FILE__, __LINE__)
#define EXPECT_SUCCESS(call) \
  if ((call) < 0) return failed(__FILE__, __LINE__)

}  // namespace sandbox::test
