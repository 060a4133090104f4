#pragma once
// The options of the command line as plain values. Made by command_line, read by the commands.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/link/join_url.h"
#include "runtime/job/job.h"
#include "runtime/job/limits.h"
#include "sandbox/policy.h"
#include "sandbox/sys/units.h"
#include "service/admission/cors.h"
#include "service/admission/hosts.h"
#include "service/admission/tenancy.h"
#include "service/observe/access_log.h"
#include "tools/cli/certify/grader/task.h"
#include "tools/cli/project/project.h"

namespace service {
struct KnownApi;
}

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
  sandbox::Layers without;  // tests of the layers only
  // How every template keeps its memory, from its first job on; see shim/heap/image.h.
  std::optional<std::string> heap;
  bool borrows_memory = true, verifies_rollback = false;  // see EngineOptions
  bool warm = true;                                       // --start: runtimes that can be warm are
  std::string config;
  bool no_project = false;
  ProjectTrust trust;
  Project project;  // of commands that read it
  bool json = false;
  bool quiet = false;
  bool no_color = false;
  std::string python = "/usr/bin/python3";
  std::vector<std::string> preload;
  std::string setup;                              // a file; empty: not given
  std::string template_name;                      // empty: not given
  std::vector<std::string> packages;              // --packages: folders of Piston packages
  std::string image;                              // empty: the host's own files
  sys::Bytes build_cache = sys::mebibytes(1024);  // none of it: nothing is kept
};

struct RunOptions {
  std::string program;      // empty: the image's own command
  bool is_command = false;  // PROGRAM is one of the image
  std::vector<std::string> args;
  std::map<std::string_view, runtime::LimitRule::Amount> limits;  // by option: "--cpu"
  std::optional<sandbox::Profile> profile;
  unsigned determinism = 1;
  runtime::FixedMode fixed;
  std::string func, inputs;
  bool array = false;
  std::string stdin_file;
  std::vector<std::string> compiler_flags;
  bool observe = false, record = false;
};

struct BatchOptions {
  std::string jobs = "-";
  std::string results;  // empty: stdout
  unsigned workers = 0;
  std::string defaults;
  bool record = false;
  bool resume = false, overwrite = false;
  bool any_id = false;  // ids may come again, and none is remembered
  int share = -1;       // the descriptor of batch/guests.h
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

struct GraderOptions {
  std::string command;  // for the shell; empty: labels are certified, no grader
  std::vector<TaskKind> kinds{TaskKind::kFunction, TaskKind::kClass};
  std::vector<std::string> only;      // names of exploits and variants; none: all
  sys::Milliseconds timeout{10'000};  // for a case
  sys::Bytes memory = sys::mebibytes(2048);
  bool unconfined = false;
  bool list = false;
};

struct CertifyOptions {
  std::vector<std::string> corpora;  // files; none: the built-in programs
  std::vector<unsigned> loads{1, 4, 16, 64};
  size_t jobs = 0;  // at each load; 0: by the corpus and the load
  bool faults = false;
  uint64_t seed = 1;
  GraderOptions grader;
};

struct ReplayOptions {
  std::string results = "-";
  unsigned runs = 1;
  bool strict = false;  // only where the records were made
  unsigned workers = 0;
};

struct TestOptions {
  std::string tests, program;  // files or folders
  std::string framework = "auto";
  bool strict = false;
  sys::Milliseconds timeout{10'000};
  sys::Bytes memory = sys::mebibytes(512);
  std::string junit;  // a file; empty: none
};

struct HealthOptions {
  std::string address;                       // empty: as the environment says, or kDefaultListen
  std::string ca_file, cert_file, key_file;  // of https://
  bool ready = false;
  sys::Milliseconds patience{5'000};
};

struct InitOptions {
  std::string kind;
  std::string folder;  // empty: zygo-KIND
};

struct KernelOptions {
  std::string connection_file;
  std::string prefix;  // where it is installed; empty: for this user
  std::string name = "zygo", display_name = "Python 3 (zygo)";
};

struct DocumentOptions {
  std::string shell, page;                   // what is asked for
  std::string text;                          // for stdout, or
  std::string folder;                        // where to write
  std::map<std::string, std::string> files;  // these
};

inline constexpr const char* kDefaultListen = "127.0.0.1:8000";

struct ServeOptions {
  std::vector<std::string> listen;  // empty: what systemd gives, or else kDefaultListen
  unsigned workers = 0;
  size_t queue = 1000, connections = 256;
  sys::Bytes max_body = sys::mebibytes(64), held = sys::mebibytes(1024);
  sys::Milliseconds grace{10'000}, keep{600'000};
  sys::Milliseconds head_time{10'000}, body_time{30'000}, write_time{30'000}, idle_time{75'000};
  sys::Milliseconds ping_time{20'000};
  std::string tokens, defaults;  // files
  std::string durable;           // a file, too; empty: no jobs are durable
  sys::Milliseconds durable_keep{86'400'000};
  sys::Bytes durable_size = sys::mebibytes(1024);
  size_t durable_queue = 100'000;
  std::optional<service::TenantBy> tenant_by;  // else token where there are tokens
  size_t tenant_templates = 0;                 // 0: chosen by memory
  sys::Milliseconds tenant_idle{300'000};
  sys::Bytes nodes_memory = sys::mebibytes(1024);
  std::string nodes_disk;
  sys::Bytes nodes_disk_size = sys::mebibytes(8192);
  sys::Milliseconds nodes_idle{1'800'000};
  sys::Milliseconds steps_stay{1000};  // 0: they do not
  bool share_builds = false;
  bool core_scheduling = false;
  bool allow_anyone = false;
  unsigned socket_mode = 0600;
  service::LogFormat log = service::LogFormat::kText;
  std::vector<const service::KnownApi*> apis;  // of others
  service::Cors cors;
  service::Hosts hosts;
  bool no_page = false;
  sys::Bytes file_store = sys::mebibytes(512);  // of go-judge's API
  sys::Milliseconds file_keep{3'600'000};
  std::string file_source;                  // a directory; empty: none
  std::vector<cluster::JoinUrl> callbacks;  // of Judge0's API: at or below these
};

// Options for pilots, as their own command lines say them (command_line/carried_options.h).
struct CarriedOptions {
  std::vector<std::string> names;                          // of all that were said
  std::vector<std::string> words;                          // those that nothing else says
  std::vector<std::pair<std::string, std::string>> files;  // options and the files that they name
};

struct PilotOptions {
  std::vector<std::string> join;                         // URLs of routers; empty: this is no pilot
  std::string token_file, ca_file, cert_file, key_file;  // empty: not used
  std::string name;                                      // empty: by its slot
  std::string engine;                                    // what has started it; by its slot
  std::string environment;  // a packed one of the router's, as its interpreter; empty: none
  int64_t until = 0;        // seconds since 1970; 0: by its slot
  sys::Milliseconds drain_before{60'000};  // that end
  // What --print prints, and for which slots; empty: nothing is printed.
  std::string print;
  unsigned pilots = 1, most_pilots = 0, cpus = 1;
  sys::Bytes memory = sys::mebibytes(4096);
  sys::Milliseconds slot_time{0};  // 0: without an end
  std::vector<std::string> hosts;
  std::string pod_image = "zygo", pod_namespace = "zygo";
  CarriedOptions carried;
  std::optional<sys::Milliseconds> carried_grace;
};

struct RouteOptions {
  std::string name;  // empty: the host's
  sys::Milliseconds lease{10'000};
  std::vector<std::string> peers;            // other routers, as "NAME=URL"
  std::string ca_file, cert_file, key_file;  // PEM, for those of them that are https
  std::vector<std::string> environments;     // for pilots, as "NAME=FILE"
};

struct ScaleOptions {
  std::string engine;
  std::string url;                           // of the router
  std::string token_file;                    // with the scope metrics; empty: no token is sent
  std::string ca_file, cert_file, key_file;  // empty: not used
  std::string name = "zygo-scale";           // of the slots
  unsigned least = 0, most = 0;
  sys::Milliseconds wait{2'000}, idle{120'000}, settling{120'000};  // cluster::ScaleLimits
  sys::Milliseconds every{5'000}, ending{150'000};
  std::vector<std::string> directives;
  bool dry_run = false;
};

struct TopOptions {
  std::string url;                           // empty: http://kDefaultListen
  std::string token_file;                    // empty: no token is sent
  std::string ca_file, cert_file, key_file;  // the same
  sys::Milliseconds every{1000};
  bool once = false;
};

enum class Command {
  kRun,
  kSession,
  kMcp,
  kKernelRun,
  kKernelInstall,
  kBatch,
  kServe,
  kPilot,
  kRoute,
  kScale,
  kJudge,
  kTest,
  kDoctor,
  kSelfcheck,
  kCertify,
  kReplay,
  kTop,
  kTemplateList,
  kRuntimeList,
  kImageImport,
  kImagePack,
  kImageList,
  kImageInspect,
  kImageRemove,
  kBlobPut,
  kBlobList,
  kBlobRemove,
  kHealth,
  kInit,
  kDocument
};

struct CommandLine {
  std::vector<std::string> arguments;         // that it was made of
  std::vector<std::string> from_environment;  // options that were said there, by name
  Command command = Command::kRun;
  CommonOptions common;
  RunOptions run;
  BatchOptions batch;
  ServeOptions serve;
  PilotOptions pilot;
  RouteOptions route;
  ImageOptions image;
  BlobOptions blob;
  JudgeOptions judge;
  CertifyOptions certify;
  ReplayOptions replay;
  TestOptions test;
  ScaleOptions scale;
  TopOptions top;
  HealthOptions health;
  InitOptions init;
  KernelOptions kernel;
  DocumentOptions document;
};

}  // namespace cli
