#include "tools/cli/isolate/options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace cli {
namespace {

enum Option : int {
  kBox = 'b',
  kDirectory = 'c',
  kRule = 'd',
  kNoDefaultRules = 'D',
  kFullEnvironment = 'e',
  kEnvironment = 'E',
  kFileSize = 'f',
  kStdin = 'i',
  kStack = 'k',
  kMemory = 'm',
  kMeta = 'M',
  kOpenFiles = 'n',
  kStdout = 'o',
  kProcesses = 'p',
  kQuota = 'q',
  kStderr = 'r',
  kSilent = 's',
  kTime = 't',
  kVerbose = 'v',
  kWallTime = 'w',
  kExtraTime = 'x',
  kInit = 256,
  kRun,
  kCleanup,
  kVersion,
  kCheckConfig,
  kHelp,
  kGroups,
  kGroupMemory,
  kErrorsWithOutput,
  kWait,
  kCore,
  kSyscalls,
  kPrintGroupRoot,
  kShareNet,
  kInheritDescriptors,
  kTtyHack,
  kSpecialFiles,
  kAsUid,
  kAsGid,
};

constexpr const char* kShort = ":b:c:d:DeE:f:i:k:m:M:n:o:p::q:r:st:vw:x:";

constexpr auto kLong = std::to_array<option>({
    {"box-id", required_argument, nullptr, kBox},
    {"chdir", required_argument, nullptr, kDirectory},
    {"dir", required_argument, nullptr, kRule},
    {"no-default-dirs", no_argument, nullptr, kNoDefaultRules},
    {"full-env", no_argument, nullptr, kFullEnvironment},
    {"env", required_argument, nullptr, kEnvironment},
    {"fsize", required_argument, nullptr, kFileSize},
    {"stdin", required_argument, nullptr, kStdin},
    {"stack", required_argument, nullptr, kStack},
    {"mem", required_argument, nullptr, kMemory},
    {"meta", required_argument, nullptr, kMeta},
    {"open-files", required_argument, nullptr, kOpenFiles},
    {"stdout", required_argument, nullptr, kStdout},
    {"processes", optional_argument, nullptr, kProcesses},
    {"quota", required_argument, nullptr, kQuota},
    {"stderr", required_argument, nullptr, kStderr},
    {"silent", no_argument, nullptr, kSilent},
    {"time", required_argument, nullptr, kTime},
    {"verbose", no_argument, nullptr, kVerbose},
    {"wall-time", required_argument, nullptr, kWallTime},
    {"extra-time", required_argument, nullptr, kExtraTime},
    {"init", no_argument, nullptr, kInit},
    {"run", no_argument, nullptr, kRun},
    {"cleanup", no_argument, nullptr, kCleanup},
    {"version", no_argument, nullptr, kVersion},
    {"check-config", no_argument, nullptr, kCheckConfig},
    {"help", no_argument, nullptr, kHelp},
    {"cg", no_argument, nullptr, kGroups},
    {"cg-mem", required_argument, nullptr, kGroupMemory},
    {"stderr-to-stdout", no_argument, nullptr, kErrorsWithOutput},
    {"wait", no_argument, nullptr, kWait},
    {"core", required_argument, nullptr, kCore},
    {"syscalls", required_argument, nullptr, kSyscalls},
    {"print-cg-root", no_argument, nullptr, kPrintGroupRoot},
    {"share-net", no_argument, nullptr, kShareNet},
    {"inherit-fds", no_argument, nullptr, kInheritDescriptors},
    {"tty-hack", no_argument, nullptr, kTtyHack},
    {"special-files", no_argument, nullptr, kSpecialFiles},
    {"as-uid", required_argument, nullptr, kAsUid},
    {"as-gid", required_argument, nullptr, kAsGid},
    {nullptr, 0, nullptr, 0},
});

constexpr uint64_t kMostBoxes = 1'000'000;
constexpr uint64_t kMostKibibytes = uint64_t{1} << 30;
constexpr double kMostSeconds = 86400;

// Why an option is not to be had here; empty: it is.
std::string_view why_not(int option) {
  switch (option) {
    case kShareNet:
      return "--share-net: programs have no network here";
    case kInheritDescriptors:
      return "--inherit-fds: programs get standard input, output and error here, and no other "
             "descriptor";
    case kTtyHack:
      return "--tty-hack: programs do not get the terminal here";
    case kSpecialFiles:
      return "--special-files: nothing but files and directories comes out of a box here";
    case kNoDefaultRules:
      return "--no-default-dirs: the default directories are always there here";
    case kAsUid:
    case kAsGid:
      return "--as-uid, --as-gid: boxes belong to who calls zygo";
    case kPrintGroupRoot:
      return "--print-cg-root: each program has a control group of its own here";
    default:
      return {};
  }
}

// A setting of an option, or the complaint about it.
class Reader {
 public:
  explicit Reader(IsolateOptions& options) : options_(options) {}

  std::string complaint() const { return complaint_; }
  bool has_mode() const { return has_mode_; }
  bool needs_groups() const { return options_.group_memory && !options_.groups; }

  void take(int option, const std::string& value) {
    if (const std::string_view reason = why_not(option); !reason.empty()) {
      complaint_ = reason;
    } else if (option >= kInit && option <= kHelp) {
      take_mode(static_cast<IsolateOptions::Mode>(modes_[static_cast<size_t>(option - kInit)]));
    } else if (!take_limit(option, value)) {
      take_rest(option, value);
    }
  }

 private:
  using Mode = IsolateOptions::Mode;
  static constexpr std::array<Mode, 6> modes_ = {Mode::kInit,    Mode::kRun,         Mode::kCleanup,
                                                 Mode::kVersion, Mode::kCheckConfig, Mode::kHelp};

  void take_mode(Mode mode) {
    if (has_mode_ && options_.mode != mode) complaint_ = "only one command is allowed";
    options_.mode = mode;
    has_mode_ = true;
  }

  uint64_t number(const std::string& text, uint64_t most) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (text.empty() || problem != std::errc{} || stopped != end || value > most) {
      complaint_ = fmt::format("\"{}\" is not a number from 0 to {}", text, most);
      return 0;
    }
    return value;
  }

  // None where it is 0, which isolate takes for "no limit".
  std::optional<sys::Bytes> size(const std::string& text) {
    const uint64_t kibibytes = number(text, kMostKibibytes);
    if (kibibytes == 0) return std::nullopt;
    return sys::kibibytes(kibibytes);
  }

  std::optional<sys::Milliseconds> seconds(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (text.empty() || problem != std::errc{} || stopped != end || !(value >= 0) ||
        value > kMostSeconds) {
      complaint_ = fmt::format("\"{}\" is not a time from 0 to {} seconds", text, kMostSeconds);
      return std::nullopt;
    }
    const auto count = static_cast<int64_t>(std::llround(value * 1000));
    if (count == 0) return std::nullopt;
    return sys::Milliseconds(count);
  }

  bool take_limit(int option, const std::string& value) {
    switch (option) {
      case kTime:
        options_.time = seconds(value);
        return true;
      case kWallTime:
        options_.wall_time = seconds(value);
        return true;
      case kExtraTime:
        options_.extra_time = seconds(value);
        return true;
      case kMemory:
        options_.address_space = size(value);
        return true;
      case kGroupMemory:
        options_.group_memory = size(value);
        return true;
      case kStack:
        options_.stack = size(value);
        return true;
      case kFileSize:
        options_.file_size = size(value);
        return true;
      case kOpenFiles:
        options_.open_files = static_cast<uint32_t>(number(value, 1048576));
        return true;
      case kProcesses:
        options_.processes.reset();
        if (const auto most = static_cast<uint32_t>(value.empty() ? 0 : number(value, 32768)))
          options_.processes = most;
        return true;
      case kQuota:
        take_quota(value);
        return true;
      default:
        return false;
    }
  }

  void take_quota(const std::string& value) {
    const size_t comma = value.find(',');
    if (comma == value.npos) {
      complaint_ = fmt::format("--quota={}: it is BLOCKS,INODES", value);
      return;
    }
    options_.quota = BoxQuota{number(value.substr(0, comma), kMostKibibytes),
                              number(value.substr(comma + 1), 10'000'000)};
  }

  void take_rest(int option, const std::string& value) {
    switch (option) {
      case kBox:
        options_.box = static_cast<uint32_t>(number(value, kMostBoxes));
        break;
      case kDirectory:
        take_directory(value);
        break;
      case kRule:
        take_rule(value);
        break;
      case kFullEnvironment:
        options_.full_environment = true;
        break;
      case kEnvironment:
        take_variable(value);
        break;
      case kStdin:
        options_.stdin_file = value;
        break;
      case kStdout:
        options_.stdout_file = value;
        break;
      case kStderr:
        options_.stderr_file = value;
        options_.errors_with_output = false;
        break;
      case kErrorsWithOutput:
        options_.stderr_file.clear();
        options_.errors_with_output = true;
        break;
      default:
        take_switch(option, value);
    }
  }

  void take_switch(int option, const std::string& value) {
    switch (option) {
      case kMeta:
        options_.meta = value;
        break;
      case kSilent:
        options_.silent = true;
        break;
      case kVerbose:
        ++options_.verbose;
        break;
      case kWait:
        options_.wait = true;
        break;
      case kGroups:
        options_.groups = true;
        break;
      case kCore:
        if (number(value, kMostKibibytes) != 0)
          complaint_ = "--core: programs leave no core files here";
        break;
      case kSyscalls:
        // A sum of restrictions, all of which are in force: less cannot be had.
        if (constexpr uint64_t kAll = 31; (number(value, kAll) & kAll) != kAll)
          complaint_ = "--syscalls: all restrictions are in force here (31), and stay so";
        break;
      default:
        complaint_ = "unknown option";
    }
  }

  void take_directory(const std::string& value) {
    if (const auto path = plain_path("/" + value)) {
      options_.directory = *path;
    } else {
      complaint_ = fmt::format("--chdir={}: not a path inside of the sandbox", value);
    }
  }

  void take_rule(const std::string& value) {
    auto rule = parse_directory_rule(value);
    if (const auto* problem = std::get_if<std::string>(&rule)) {
      complaint_ = fmt::format("--dir={}: {}", value, *problem);
    } else {
      options_.directories.push_back(std::get<DirectoryRule>(std::move(rule)));
    }
  }

  void take_variable(const std::string& value) {
    const size_t equals = value.find('=');
    if (value.empty() || equals == 0) {
      complaint_ = fmt::format("--env={}: it is NAME or NAME=VALUE", value);
    } else if (equals == value.npos) {
      options_.environment.emplace_back(value, std::nullopt);
    } else {
      options_.environment.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    }
  }

  IsolateOptions& options_;
  std::string complaint_;
  bool has_mode_ = false;
};

std::string check_words(const IsolateOptions& options) {
  const bool runs = options.mode == IsolateOptions::Mode::kRun;
  if (runs && options.command.empty()) return "--run wants a program: --run -- PROGRAM [ARGUMENTS]";
  if (!runs && !options.command.empty())
    return fmt::format("unexpected \"{}\"", options.command.front());
  return {};
}

}  // namespace

std::variant<IsolateOptions, IsolateRefusal> parse_isolate_options(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"isolate"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  const int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);

  IsolateOptions options;
  Reader reader(options);
  ::optind = 0;  // glibc: begins anew, and moves what is no option to the end
  for (;;) {
    const int option = ::getopt_long(count, pointers.data(), kShort, kLong.data(), nullptr);
    if (option == -1) break;
    const std::string word = pointers[static_cast<size_t>(std::min(::optind, count) - 1)];
    if (option == '?') return IsolateRefusal{fmt::format("{}: unknown option", word)};
    if (option == ':') return IsolateRefusal{fmt::format("{}: a value is missing", word)};
    reader.take(option, ::optarg ? ::optarg : "");
    if (const std::string complaint = reader.complaint(); !complaint.empty()) {
      const bool says_which = complaint.starts_with("--");
      return IsolateRefusal{says_which ? complaint : fmt::format("{}: {}", word, complaint)};
    }
  }
  options.command.assign(pointers.begin() + ::optind, pointers.begin() + count);
  if (!reader.has_mode())
    return IsolateRefusal{"say what to do: --init, --run -- PROGRAM, or --cleanup"};
  if (reader.needs_groups()) return IsolateRefusal{"--cg-mem needs --cg"};
  if (std::string complaint = check_words(options); !complaint.empty())
    return IsolateRefusal{std::move(complaint)};
  return options;
}

}  // namespace cli
