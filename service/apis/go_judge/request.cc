// Makes jobs from go-judge's request: reads what is asked for, piece by piece.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/engine/engine.h"
#include "runtime/json/job/job_parts.h"
#include "service/apis/go_judge/fields.h"
#include "service/apis/go_judge/go_judge.h"
#include "service/apis/parsed.h"

namespace service::go_judge {

using nlohmann::json;
using runtime::InputFile;

namespace {

constexpr size_t kMostCommands = 32;
constexpr size_t kMostFiles = 4096;                       // to copy in
constexpr uint64_t kMostCollected = uint64_t{256} << 20;  // of a stream, as the original's
constexpr uint64_t kUncollected = uint64_t{64} << 20;     // of a stream that nobody wants
constexpr uint64_t kUsualCopyOut = uint64_t{256} << 20;   // of a file, as the original's
constexpr uint64_t kUsualDisk = uint64_t{128} << 20;      // of the original's /w
constexpr const auto& kMemory = runtime::limit_named("memory_mb");
constexpr uint64_t kLeastMemory = uint64_t{kMemory.min} << 20;
constexpr uint64_t kMostMemory = uint64_t{kMemory.max} << 20;
constexpr uint64_t kMostProcesses = runtime::limit_named("pids").max;
constexpr uint64_t kMostMilliseconds = runtime::limit_named("cpu_ms").max;
constexpr uint64_t kNanoseconds = 1'000'000;  // in a millisecond
constexpr std::string_view kScript = "#!";

// One command of a request.
class CommandReader {
 public:
  CommandReader(const json& from, std::string where, const Places& places, Streams streams,
                uint64_t& bytes, Complaint& complaint)
      : from_(from),
        where_(std::move(where)),
        places_(places),
        streams_(streams),
        bytes_(bytes),
        complaint_(complaint) {}

  void read(Command& into) {
    if (truth(from_, "tty")) complaint_.add(where_ + ".tty", "there are no terminals here");
    into.job.template_name = runtime::kCommandTemplate;
    into.job.policy.by_program = into.job.policy.has_profile = true;
    limits(into);
    environment(into.job);
    streams(into);
    copy_in(into);
    program(into.job);
    copy_out(into);
  }

 private:
  // Contents by value, by id or by a path of this host.
  std::optional<std::string> content(const json& file, const std::string& where) {
    std::optional<std::string> bytes;
    if (const json* path = find(file, "src")) {
      bytes = local(*path, where);
    } else if (const json* text = find(file, "content")) {
      if (text->is_string()) bytes = text->get<std::string>();
      if (!bytes) complaint_.add(where + ".content", "expected a string");
    } else if (const json* id = find(file, "fileId")) {
      const StoredFilePtr stored = stored_file(*id);
      if (stored && has_room(stored->content.size(), where)) bytes = stored->content;
    }
    if (bytes && has_room(bytes->size(), where)) {
      bytes_ += bytes->size();
      return bytes;
    }
    complaint_.add(where, "file type is not valid for cmd");
    return std::nullopt;
  }

  StoredFilePtr stored_file(const json& id) {
    StoredFilePtr stored = id.is_string() ? places_.stored(id.get<std::string>()) : nullptr;
    if (!stored) {
      const auto replace = json::error_handler_t::replace;
      complaint_.add("", "file does not exists with id: " + id.dump(-1, ' ', false, replace), 500);
    }
    return stored;
  }

  bool has_room(uint64_t bytes, const std::string& where) {
    if (bytes <= places_.most - bytes_) return true;
    complaint_.add(where, "the files of this request are too large together");
    return false;
  }

  std::optional<std::string> local(const json& path, const std::string& where) {
    const std::string name = path.is_string() ? path.get<std::string>() : "";
    if (name == "/dev/null") return "";
    if (!places_.local) {
      complaint_.add(where + ".src", "paths of this host are not offered (--file-source)");
      return std::nullopt;
    }
    sys::Result<std::string> bytes = places_.local(name, places_.most - bytes_);
    if (bytes) return std::move(bytes).value();
    complaint_.add(where + ".src", bytes.error().text(), 500);
    return std::nullopt;
  }

  // The time of a limit in nanoseconds; `otherwise` if there is no limit.
  static sys::Milliseconds time(uint64_t ns, sys::Milliseconds otherwise) {
    if (ns == 0) return otherwise;
    const uint64_t ms = ns / kNanoseconds + (ns % kNanoseconds != 0);
    return sys::Milliseconds(static_cast<int64_t>(std::min(ms, kMostMilliseconds)));
  }

  uint64_t whole(const char* name) { return number(from_, name, where_, complaint_); }

  void limits(Command& into) {
    runtime::Limits& limits = into.job.limits;
    into.cpu_ns = whole("cpuLimit");
    into.memory_bytes = whole("memoryLimit");
    const uint64_t real = whole("realCpuLimit"), clock = whole("clockLimit");
    const uint64_t wall_ns = real > 0 ? real : clock > 0 ? clock : into.cpu_ns;
    limits.cpu = time(into.cpu_ns, limits.cpu);
    limits.wall = time(wall_ns, limits.wall);
    if (into.memory_bytes > 0)
      limits.memory.count = std::clamp(into.memory_bytes, kLeastMemory, kMostMemory);
    limits.stack.count = std::min(whole("stackLimit"), limits.memory.count);
    if (const uint64_t most = whole("procLimit"); most > 0)
      limits.pids = static_cast<uint32_t>(std::min(most, kMostProcesses));
    limits.disk.count = std::max(limits.disk.count, kUsualDisk);
    const uint64_t most = whole("copyOutMax");
    into.copy_out_most = most > 0 ? most : kUsualCopyOut;
    into.truncate = truth(from_, "copyOutTruncate");
  }

  void environment(runtime::Job& job) {
    for (const std::string& entry : texts(from_, "env", where_, complaint_)) {
      const size_t equals = entry.find('=');
      if (equals == 0 || equals == entry.npos) continue;
      job.env.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }

  void streams(Command& into) {
    runtime::Limits& limits = into.job.limits;
    const sys::Bytes usual[] = {{}, limits.out, limits.err};
    limits.out.count = limits.err.count = kUncollected;
    const json* files = find(from_, "files");
    if (!files) return;
    if (!files->is_array() || files->size() > 3)
      return complaint_.add(where_ + ".files", "expected stdin, stdout and stderr");
    for (size_t i = 0; i < files->size(); ++i) {
      const json& file = (*files)[i];
      const std::string where = fmt::format("{}.files[{}]", where_, i);
      if (file.is_null()) continue;
      if (!file.is_object()) return complaint_.add(where, "expected an object");
      if (truth(file, "streamIn") || truth(file, "streamOut")) {
        stream(file, i, where, into);
        if (i > 0) (i == 1 ? limits.out : limits.err) = usual[i];
        continue;
      }
      if (i == 0) {
        if (auto bytes = content(file, where)) into.job.stdin_bytes = *std::move(bytes);
        continue;
      }
      collector(file, where, i == 1 ? into.out : into.err, i == 1 ? limits.out : limits.err);
    }
  }

  // A streamed file is bounded as any job's output is.
  void stream(const json& file, size_t fd, const std::string& where, Command& into) {
    if (streams_ == Streams::kRefused) return complaint_.add(where, "streams are not offered here");
    if (truth(file, "streamIn") != (fd == 0))
      return complaint_.add(where, "streamIn is for stdin, streamOut for stdout and stderr");
    (fd == 0 ? into.streams_in : fd == 1 ? into.streams_out : into.streams_err) = true;
  }

  void collector(const json& file, const std::string& where, std::optional<Collector>& into,
                 sys::Bytes& limit) {
    const json *name = find(file, "name"), *src = find(file, "src");
    if (src && *src == "/dev/null") return;
    if (!name || !name->is_string() || !find(file, "max"))
      return complaint_.add(where, "file type is not valid for cmd");
    into = Collector{*name, std::min(number(file, "max", where, complaint_), kMostCollected)};
    limit.count = into->most;
  }

  void copy_in(Command& into) {
    runtime::Job& job = into.job;
    const json* files = find(from_, "copyIn");
    if (!files) return;
    if (!files->is_object() || files->size() > kMostFiles)
      return complaint_.add(where_ + ".copyIn", "expected an object of 4096 files at most");
    own_ = own_path();
    std::vector<InputFile> links;
    for (const auto& [name, file] : files->items()) {
      const std::string where = where_ + ".copyIn." + runtime::printable(name);
      const std::string path = path_in_scratch(name);
      if (path.empty()) return complaint_.add(where, "expected a path in the working directory");
      if (!file.is_object()) return complaint_.add(where, "file type is not valid for cmd");
      if (const json* target = find(file, "symlink")) {
        if (!target->is_string() || target->get_ref<const std::string&>().empty())
          return complaint_.add(where, "a link leads somewhere");
        links.push_back({path, *target, false, true});
      } else if (path != own_ || !stored_program(into, file)) {
        auto bytes = content(file, where);
        if (!bytes) return;
        if (path == own_ && !bytes->starts_with(kScript)) {
          auto content = std::make_shared<const std::string>(*std::move(bytes));
          into.program = [content] { return executable_of(*content); };
          continue;
        }
        if (path == own_) script_ = first_line(*bytes);
        job.files.push_back({path, *std::move(bytes), true});
      }
    }
    for (InputFile& link : links) job.files.push_back(std::move(link));
  }

  // The path that the first word names, if that can be a file of the working directory: a name
  // without a slash is looked for there first, as in the original.
  std::string own_path() {
    const json* words = find(from_, "args");
    if (!words || !words->is_array() || words->empty() || !words->front().is_string()) return "";
    return path_in_scratch(words->front().get<std::string>());
  }

  static Executable executable_of(const std::string& content) {
    return runtime::Artefact::create({{"program", content, true}}, "program", 0);
  }

  // An executable that is kept is not copied for each of its runs. False: it is none.
  bool stored_program(Command& into, const json& file) {
    const json* id = find(file, "fileId");
    if (!id || find(file, "src") || find(file, "content")) return false;
    const StoredFilePtr stored = stored_file(*id);
    if (!stored || stored->content.starts_with(kScript)) return false;
    into.program = [stored, kept = places_.executable, name = id->get<std::string>()] {
      Executable made = kept(name);
      return made ? std::move(made) : executable_of(stored->content);  // removed meanwhile
    };
    return true;
  }

  static std::string first_line(const std::string& bytes) {
    constexpr size_t kLongest = 255;  // as the kernel reads it
    return bytes.substr(kScript.size(), std::min(bytes.find('\n'), kLongest) - kScript.size());
  }

  void program(runtime::Job& job) {
    std::vector<std::string> words = texts(from_, "args", where_, complaint_);
    if (words.empty() || words.front().empty())
      return complaint_.add(where_ + ".args", "expected the words of a command");
    if (!script_.empty()) put_interpreter(words);
    job.source = words.front();
    job.argv.assign(words.begin() + 1, words.end());
  }

  // Puts them as the kernel would: the interpreter, one word for it at most, the script.
  void put_interpreter(std::vector<std::string>& words) const {
    constexpr std::string_view kBlanks = " \t\r";
    const size_t begin = std::min(script_.find_first_not_of(kBlanks), script_.size());
    const size_t end = std::min(script_.find_first_of(kBlanks, begin), script_.size());
    const size_t more = std::min(script_.find_first_not_of(kBlanks, end), script_.size());
    const size_t last = script_.find_last_not_of(kBlanks);
    words.front() = "./" + own_;
    if (more < script_.size()) words.insert(words.begin(), script_.substr(more, last + 1 - more));
    words.insert(words.begin(), script_.substr(begin, end - begin));
  }

  void copy_out(Command& into) {
    const std::pair<const char*, bool> lists[] = {{"copyOut", false}, {"copyOutCached", true}};
    for (const auto& [name, cached] : lists) {
      for (std::string& file : texts(from_, name, where_, complaint_)) {
        Wanted wanted;
        wanted.optional = file.ends_with('?');
        if (wanted.optional) file.pop_back();
        wanted.cached = cached;
        wanted.name = file;
        if (cached) into.cached.insert(file);
        const bool is_stream =
            (into.out && into.out->name == file) || (into.err && into.err->name == file);
        if (is_stream) continue;
        wanted.path = path_in_scratch(file);
        if (!wanted.path.empty()) into.job.outputs.push_back(glob_of(wanted.path));
        into.wanted.push_back(std::move(wanted));
      }
    }
    into.job.limits.outputs.count = kUsualCopyOut;  // each file is looked at on its own
  }

  const json& from_;
  const std::string where_;
  const Places& places_;
  const Streams streams_;
  uint64_t& bytes_;
  Complaint& complaint_;
  std::string own_, script_;  // the program's path, if it came along; its first line, if a script
};

struct End {
  size_t index = 0;
  uint64_t fd = 0;
  bool operator==(const End&) const = default;
};

std::optional<End> end_of(const json& pipe, const char* name, Complaint& complaint) {
  const std::string where = "pipeMapping";
  const json* end = pipe.is_object() ? find(pipe, name) : nullptr;
  if (!end || !end->is_object()) return std::nullopt;
  return End{number(*end, "index", where, complaint), number(*end, "fd", where, complaint)};
}

void read_pipes(const json& body, Request& into, Complaint& complaint) {
  const json* pipes = find(body, "pipeMapping");
  if (!pipes || (pipes->is_array() && pipes->empty())) return;
  constexpr const char* kOffered =
      "two commands can be joined here, the stdout of one with the stdin of the other, in one "
      "direction or in both; nothing else";
  if (!pipes->is_array() || pipes->size() > 2 || into.commands.size() != 2)
    return complaint.add("pipeMapping", kOffered);
  std::vector<size_t> writers;
  for (const json& pipe : *pipes) {
    const auto in = end_of(pipe, "in", complaint), out = end_of(pipe, "out", complaint);
    if (!in || !out || in->fd != 1 || out->fd != 0 || in->index > 1 || out->index != 1 - in->index)
      return complaint.add("pipeMapping", kOffered);
    Command &writer = into.commands[in->index], &reader = into.commands[out->index];
    if (writer.out || !reader.job.stdin_bytes.empty())
      return complaint.add("", "pipe: fd already occupied", 500);
    writers.push_back(in->index);
  }
  if (writers.size() == 2 && writers[0] == writers[1])
    return complaint.add("pipeMapping", kOffered);
  into.first = writers[0];
  into.pipes = writers.size() == 2 ? Request::Pipes::kCrossed : Request::Pipes::kOneWay;
}

}  // namespace

std::variant<Request, Response> read_run(std::string_view text, const Places& places,
                                         const runtime::JobDefaults& defaults, Streams streams) {
  const json body = parsed(text, kDeepest);
  if (!body.is_object()) return text_response(400, "the body is not a JSON object");
  const json* commands = find(body, "cmd");
  if (!commands || (commands->is_array() && commands->empty()))
    return text_response(400, "no cmd provided");
  if (!commands->is_array() || commands->size() > kMostCommands)
    return text_response(400, fmt::format("cmd: expected a list of {} at most", kMostCommands));
  if (streams == Streams::kOffered && commands->size() > 1)
    return text_response(400, "cmd: a stream is of one command here");
  Request request;
  Complaint complaint;
  for (size_t i = 0; i < commands->size() && !complaint; ++i) {
    const json& from = (*commands)[i];
    const std::string where = fmt::format("cmd[{}]", i);
    Command& command = request.commands.emplace_back();
    command.job.limits = defaults.job.limits;
    command.job.policy = defaults.job.policy;
    command.job.priority = defaults.job.priority;
    if (!from.is_object()) {
      complaint.add(where, "expected an object");
    } else {
      CommandReader(from, where, places, streams, request.bytes, complaint).read(command);
    }
  }
  if (!complaint) read_pipes(body, request, complaint);
  if (complaint) return complaint.response();
  return request;
}

}  // namespace service::go_judge
