// Writes the answers that go-judge gives about a command, and about itself.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "service/apis/go_judge/go_judge.h"

namespace service::go_judge {

using nlohmann::ordered_json;
using runtime::Family;
using runtime::JobResult;
using runtime::Outcome;

namespace {

constexpr const char* kFileError = "File Error";
constexpr int kKilled = 9;

// By the program's own end, whatever else is to be said of it.
const char* status_of_exit(const JobResult& result) {
  if (!result.exit) return "Internal Error";
  if (result.exit->signalled) return "Signalled";
  return result.exit->code == 0 ? "Accepted" : "Nonzero Exit Status";
}

const char* status_of(const JobResult& result) {
  const Outcome outcome = result.verdict.outcome;
  if (outcome == Outcome::kUnsafeCode) return "Dangerous Syscall";
  if (outcome == Outcome::kDiskLimit) return "Output Limit Exceeded";
  switch (family_of(outcome)) {
    case Family::kTime:
      return "Time Limit Exceeded";
    case Family::kMemory:
      return "Memory Limit Exceeded";
    case Family::kOutput:
      return "Output Limit Exceeded";
    case Family::kCancelled:
    case Family::kTrouble:
      return "Internal Error";
    // A fork that a limit refused is an error that the program may get over.
    case Family::kOtherLimit:
    case Family::kOk:
    case Family::kWrongAnswer:
    case Family::kFailed:
    case Family::kNoProgram:
    case Family::kPolicy:
      break;
  }
  return status_of_exit(result);
}

// Ours or the caller's trouble, in words.
std::string message_of(const JobResult& result) {
  std::string text = result.verdict.label();
  for (const auto& [key, value] : result.verdict.detail) {
    if (const auto* words = std::get_if<std::string>(&value); words && !words->empty())
      text += (key == "message" ? ": " : ", " + key + " ") + *words;
  }
  return text;
}

struct FileError {
  std::string name;
  const char* type;
  std::string message;
};

// The answer to one command while it is put together.
class Answer {
 public:
  Answer(const Command& command, JobResult& result, const Keep& keep)
      : command_(command), result_(result), keep_(keep), status_(status_of(result)) {
    if (result.exit) exit_ = result.exit->code;
    const bool by_client = command.cancelled && *command.cancelled;
    if (result.verdict.outcome == Outcome::kCancelled && by_client)
      status_ = status_of_exit(result);
    const std::string_view status = status_;
    if (status.ends_with("Limit Exceeded") && exit_ == 0) exit_ = kKilled;
    if (status == "Internal Error") error_ = message_of(result);
  }

  void collect_streams() {
    const bool over = result_.verdict.outcome == Outcome::kOutputLimit;
    if (command_.out) stream(*command_.out, result_.out, over);
    if (command_.err) stream(*command_.err, result_.err, over);
  }

  void copy_out() {
    for (const Wanted& wanted : command_.wanted) copy_out(wanted);
    if (errors_.empty() || std::string_view(status_) != "Accepted") return;
    status_ = kFileError;
    error_ = errors_.front().message;
  }

  // The original looks at what was used once more, when all is over.
  void look_at_limits() {
    if (result_.verdict.by == runtime::By::kSandbox || result_.verdict.by == runtime::By::kCaller)
      return;
    const auto cpu_ns = static_cast<uint64_t>(result_.usage.cpu_us) * 1000;
    const auto memory = static_cast<uint64_t>(result_.usage.memory_peak_bytes);
    if (command_.cpu_ns > 0 && cpu_ns > command_.cpu_ns) status_ = "Time Limit Exceeded";
    if (command_.memory_bytes > 0 && memory > command_.memory_bytes)
      status_ = "Memory Limit Exceeded";
  }

  std::string text() {
    keep_contents();
    std::string out = "{\"status\":";
    runtime::append_json_string(status_, out);
    number("exitStatus", exit_, out);
    if (!error_.empty()) {
      out += ",\"error\":";
      runtime::append_json_string(error_, out);
    }
    number("time", result_.usage.cpu_us * 1000, out);
    number("memory", result_.usage.memory_peak_bytes, out);
    number("runTime", result_.usage.wall_us * 1000, out);
    number("procPeak", result_.usage.pids_peak, out);
    texts("files", files_, out);
    texts("fileIds", ids_, out);
    file_errors(out);
    out += ",\"zygo\":" + ours() + "}";
    return out;
  }

 private:
  static void number(const char* key, int64_t value, std::string& out) {
    out += std::string(",\"") + key + "\":";
    runtime::append_json_integer(value, out);
  }

  static void texts(const char* key, const std::map<std::string, std::string>& values,
                    std::string& out) {
    if (values.empty()) return;
    out += std::string(",\"") + key + "\":{";
    bool first = true;
    for (const auto& [name, text] : values) {
      if (!std::exchange(first, false)) out += ',';
      runtime::append_json_string(name, out);
      out += ':';
      runtime::append_json_string(text, out);
    }
    out += '}';
  }

  void file_errors(std::string& out) const {
    if (errors_.empty()) return;
    out += ",\"fileError\":[";
    for (const FileError& error : errors_) {
      if (&error != &errors_.front()) out += ',';
      out += "{\"name\":";
      runtime::append_json_string(error.name, out);
      out += std::string(",\"type\":\"") + error.type + "\",\"message\":";
      runtime::append_json_string(error.message, out);
      out += '}';
    }
    out += ']';
  }

  // The facts that the original's words do not tell.
  std::string ours() const {
    ordered_json detail = ordered_json::object();
    for (const auto& [key, value] : result_.verdict.detail)
      std::visit([&detail, name = key](const auto& plain) { detail[name] = plain; }, value);
    const ordered_json all = {
        {"label", result_.verdict.label()},
        {"by", runtime::name_of(result_.verdict.by)},
        {"detail", std::move(detail)},
        {"level", result_.level ? ordered_json(sandbox::name_of(*result_.level)) : nullptr}};
    return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  // Two streams of one name follow each other.
  void stream(const Collector& collector, runtime::Output& output, bool over) {
    files_[collector.name] += std::exchange(output.bytes, {});
    if (!over || !output.truncated) return;
    errors_.push_back({collector.name, "CollectSizeExceeded", "Output Limit Exceeded"});
  }

  void copy_out(const Wanted& wanted) {
    auto has_path = [&wanted](const auto& file) { return file.path == wanted.path; };
    auto& found = result_.files.files;
    auto file = std::find_if(found.begin(), found.end(), has_path);
    if (file != found.end()) return take(wanted, file->content);
    auto& refused = result_.files.refused;
    auto refusal = std::find_if(refused.begin(), refused.end(), has_path);
    if (refusal == refused.end()) {
      if (!wanted.optional)
        fail(wanted, "CopyOutOpen", "open " + wanted.name + ": no such file or directory");
    } else if (refusal->why.starts_with("larger")) {
      fail(wanted, "CopyOutSizeExceeded", wanted.name + ": " + refusal->why);
    } else if (refusal->why.find("unreadable") != std::string::npos) {
      fail(wanted, "CopyOutOpen", "open " + wanted.name + ": " + refusal->why);
    } else {
      fail(wanted, "CopyOutNotRegularFile", wanted.name + ": not a regular file: " + refusal->why);
    }
  }

  // A copy: the same file may be wanted twice.
  void take(const Wanted& wanted, const std::string& content) {
    const uint64_t most = command_.copy_out_most;
    if (content.size() > most) {
      fail(wanted, "CopyOutSizeExceeded",
           wanted.name + ": size (" + std::to_string(content.size()) + ") exceeds the limit (" +
               std::to_string(most) + ")");
      if (!command_.truncate) return;
    }
    files_[wanted.name] = content.substr(0, most);
  }

  void fail(const Wanted& wanted, const char* type, std::string message) {
    errors_.push_back({wanted.name, type, std::move(message)});
  }

  void keep_contents() {
    for (const std::string& name : command_.cached) {
      auto file = files_.find(name);
      if (file == files_.end()) continue;
      auto id = keep_(name, std::move(file->second));
      files_.erase(file);
      if (id) {
        ids_[name] = *id;
        continue;
      }
      status_ = kFileError;
      error_ = id.error().text();
    }
  }

  const Command& command_;
  JobResult& result_;
  const Keep& keep_;
  const char* status_;
  int exit_ = 0;
  std::string error_;
  std::map<std::string, std::string> files_, ids_;
  std::vector<FileError> errors_;
};

ordered_json features() {
  return {{"copyOutOptional", true}, {"pipeProxy", true},
          {"symlink", true},         {"addressSpaceLimit", false},
          {"stream", true},          {"procPeak", true},
          {"copyOutTruncate", true}, {"pipeProxyZeroCopy", true},
          {"fixSymlinkEscape", true}};
}

}  // namespace

std::string result_text(const Command& command, JobResult& result, const Keep& keep) {
  Answer answer(command, result, keep);
  answer.collect_streams();
  answer.copy_out();
  answer.look_at_limits();
  return answer.text();
}

// Clients compare the version with what they need.
Response version_response(std::string_view version) {
  ordered_json told = {
      {"buildVersion", "v1.11.0"}, {"goVersion", "none"}, {"platform", "amd64"}, {"os", "linux"}};
  told.update(features());
  told["zygo"] = version;
  return {.body = told.dump() + "\n"};
}

Response config_response(sandbox::Layers layers) {
  ordered_json controllers = ordered_json::array();
  if (layers.has(sandbox::Layer::kCgroupCpu)) controllers.push_back("cpu");
  if (layers.has(sandbox::Layer::kCgroupMemory)) controllers.push_back("memory");
  if (layers.has(sandbox::Layer::kCgroupPids)) controllers.push_back("pids");
  ordered_json told = features();
  told["fileStorePath"] = "";
  told["runnerConfig"] = {{"cgroupControllers", std::move(controllers)}};
  return {.body = told.dump() + "\n"};
}

Response text_response(int status, std::string_view text) {
  std::string body;
  runtime::append_json_string(text, body);
  return {.status = status, .body = std::move(body)};
}

}  // namespace service::go_judge
