#pragma once
// The command line of isolate(1) as plain values, under its own names. Options that zygo cannot
// keep are refused by name here, never passed over. docs/isolate.md has the list.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/sys/units.h"

namespace cli {

// --dir: where a directory of the sandbox comes from.
struct DirectoryRule {
  std::string inside;   // absolute, without a slash at its end
  std::string outside;  // on the host; empty: the rule for `inside` is taken back
  bool writable = false, optional = false, no_exec = false;
  // A file system of its own in place of a directory: "tmp", "proc", "tmpfs", ...
  std::string file_system = {};
  bool operator==(const DirectoryRule&) const = default;
};

struct BoxQuota {
  uint64_t kibibytes = 0, files = 0;
  bool operator==(const BoxQuota&) const = default;
};

struct IsolateOptions {
  enum class Mode : uint8_t { kInit, kRun, kCleanup, kVersion, kCheckConfig, kHelp };
  Mode mode = Mode::kRun;
  uint32_t box = 0;
  bool groups = false;  // --cg
  bool silent = false, wait = false;
  unsigned verbose = 0;
  std::string meta;
  std::string stdin_file, stdout_file, stderr_file;  // as the sandbox sees them; empty: inherited
  bool errors_with_output = false;
  std::string directory = "/box";
  std::optional<sys::Milliseconds> time, wall_time, extra_time;
  std::optional<sys::Bytes> address_space, group_memory, stack, file_size;
  std::optional<BoxQuota> quota;
  uint32_t open_files = 1024;
  std::optional<uint32_t> processes = 1;  // none: as many as it likes
  bool full_environment = false;
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;  // none: inherited
  std::vector<DirectoryRule> directories;
  std::vector<std::string> command;
};

struct IsolateRefusal {
  std::string sentence;
};

std::variant<IsolateOptions, IsolateRefusal> parse_isolate_options(
    const std::vector<std::string>& arguments);

// The argument of --dir; the other side of the variant is what is wrong with it.
std::variant<DirectoryRule, std::string> parse_directory_rule(const std::string& text);

// The path without "." and doubled slashes, absolute; none with "..", or a NUL.
std::optional<std::string> plain_path(const std::string& path);

}  // namespace cli
