#pragma once
// What the command line says, as plain values. Made by command_line, read by the commands.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/sys/units.h"
#include "service/access_log.h"
#include "service/foreign/apis.h"

namespace cli {

// Exit codes of zygo itself. Those that tell how a program ended are in verdict_text.h.
inline constexpr int kExitOk = 0;
inline constexpr int kExitSomeFailed = 1;
inline constexpr int kExitUsage = 2;      // the command line, or a file it names
inline constexpr int kExitSandbox = 125;  // zygo or the host cannot do it, or a job is malformed
inline constexpr int kExitInterrupted = 130;

struct CommonOptions {
  std::optional<sandbox::Level> level;           // --level: forced
  std::optional<sandbox::Level> required_level;  // --require
  sandbox::Layers required_layers;
  sandbox::Layers without;    // tests of the layers only
  std::string heap = "huge";  // how a template keeps its memory; see shim/heap/image.h
  std::string config;
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  std::string python = "/usr/bin/python3";
  std::vector<std::string> preload;
  std::string template_name;                      // empty: not given
  std::string image;                              // empty: the host's own files
  sys::Bytes build_cache = sys::mebibytes(1024);  // none of it: nothing is kept
};

struct RunOptions {
  std::string program;      // empty: the image's own command
  bool is_command = false;  // PROGRAM is one of the image
  std::vector<std::string> args;
  std::optional<sys::Milliseconds> wall, cpu;
  std::optional<sys::Bytes> memory, output, disk;
  std::optional<uint32_t> pids;
  std::optional<sandbox::Profile> profile;
  unsigned determinism = 1;
  std::string func, inputs;
  bool array = false;
  std::string stdin_file;
  bool observe = false;
};

struct BatchOptions {
  std::string jobs = "-";
  std::string results;  // empty: stdout
  unsigned workers = 0;
  std::string defaults;
  bool resume = false;
};

struct ImageOptions {
  std::string name;
  std::string path;                 // what is imported: a file or a directory
  std::string venv, conda, output;  // what is packed, one of the two, and into which file
};

struct BlobOptions {
  std::vector<std::string> paths;  // files, or digests
};

struct JudgeOptions {
  std::string package;
  std::vector<std::string> submissions;
  bool self = false;  // the package's own example submissions
  bool all = false;   // tests after the first failure, too
  unsigned workers = 0;
};

inline constexpr const char* kDefaultListen = "127.0.0.1:8000";

struct ServeOptions {
  std::vector<std::string> listen;  // empty: what systemd gives, or else kDefaultListen
  unsigned workers = 0;
  size_t queue = 1000, connections = 256;
  sys::Bytes max_body = sys::mebibytes(64), held = sys::mebibytes(1024);
  sys::Milliseconds grace{10'000}, keep{600'000};
  sys::Milliseconds head_time{10'000}, body_time{30'000}, write_time{30'000}, idle_time{75'000};
  std::string tokens, defaults;  // files
  bool allow_anyone = false;
  unsigned socket_mode = 0600;
  service::LogFormat log = service::LogFormat::kText;
  service::Apis apis;
};

enum class Command {
  kRun,
  kBatch,
  kServe,
  kJudge,
  kDoctor,
  kSelfcheck,
  kTemplateList,
  kRuntimeList,
  kImageImport,
  kImagePack,
  kImageList,
  kImageInspect,
  kImageRemove,
  kBlobPut,
  kBlobList,
  kBlobRemove
};

struct CommandLine {
  Command command = Command::kRun;
  CommonOptions common;
  RunOptions run;
  BatchOptions batch;
  ServeOptions serve;
  ImageOptions image;
  BlobOptions blob;
  JudgeOptions judge;
};

}  // namespace cli
