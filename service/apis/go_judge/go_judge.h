#pragma once
// go-judge's REST API in terms of ours: each command of a request becomes a job of the template
// `command`, our results its answer. Texts and status codes are the original's (criyle/go-judge
// 1.11), except where it hides how a program ended. Pure but for the files that a request names,
// which `Places` finds; the bytes are untrusted. Any thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "sandbox/policy.h"
#include "service/apis/file_store.h"
#include "service/http/request.h"

namespace service::go_judge {

inline constexpr std::string_view kApiName = "go-judge";

// The places from which the files come that a request names.
struct Places {
  std::function<StoredFilePtr(const std::string& id)> stored;  // null: there is none
  std::function<sys::Result<std::shared_ptr<const runtime::Artefact>>(const std::string& id)>
      executable;
  // A file of this host, at most so many bytes. None: no request may name one.
  std::function<sys::Result<std::string>(const std::string& path, uint64_t most)> local = {};
  uint64_t most = uint64_t{1} << 30;  // bytes of all files of a request together
};

// A stream that is collected under a name.
struct Collector {
  std::string name;
  uint64_t most = 0;
};

// A file that is to be copied out.
struct Wanted {
  std::string name;  // as the client calls it
  std::string path;  // in the working directory; empty: it cannot be there
  bool optional = false, cached = false;
};

using Executable = sys::Result<std::shared_ptr<const runtime::Artefact>>;

struct Command {
  runtime::Job job;
  // The program, if it came along: becomes the job's when it is about to run, since each that waits
  // would hold a descriptor. None: a program of the image.
  std::function<Executable()> program;
  std::optional<Collector> out, err;
  std::vector<Wanted> wanted;
  std::set<std::string> cached;  // names whose contents are kept, in the place of being answered
  uint64_t copy_out_most = 0;    // of each file
  bool truncate = false;         // a larger one
  uint64_t cpu_ns = 0, memory_bytes = 0;  // as asked for; 0: our own limits hold
  // For /stream: its client writes to the command and reads from it while it runs.
  bool streams_in = false, streams_out = false, streams_err = false;
  std::shared_ptr<const std::atomic<bool>> cancelled;  // by that client; none: nobody can
};

struct Request {
  // kOneWay: the output of the first is the input of the second. kCrossed: and the other way round.
  enum class Pipes : uint8_t { kNone, kOneWay, kCrossed };
  std::vector<Command> commands;
  Pipes pipes = Pipes::kNone;
  size_t first = 0;    // of kOneWay: the number of the command that writes
  uint64_t bytes = 0;  // of all files together
};

// kOffered: to the one command of a request.
enum class Streams : uint8_t { kRefused, kOffered };

// A request, or what tells the client why it is none: 400 or 500 and a JSON string.
std::variant<Request, Response> read_run(std::string_view body, const Places& places,
                                         const runtime::JobDefaults& defaults,
                                         Streams streams = Streams::kRefused);

// Keeps what a command made; the id, or why not.
using Keep = std::function<sys::Result<std::string>(const std::string& name, std::string content)>;

// One element of the answer. Takes the outputs out of `result`.
std::string result_text(const Command& command, runtime::JobResult& result, const Keep& keep);

Response version_response(std::string_view version);
Response config_response(sandbox::Layers layers);

// A JSON string as the whole answer: how the original says what is wrong.
Response text_response(int status, std::string_view text);

}  // namespace service::go_judge
