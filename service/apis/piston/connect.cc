#include "service/apis/piston/connect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"
#include "service/apis/parsed.h"

namespace service::piston {

using nlohmann::json;
using runtime::LiveIo;

namespace {

constexpr sys::Milliseconds kInitPatience{1000};

enum Close : uint16_t {
  kAlreadyInitialized = 4000,
  kInitializationTimeout = 4001,
  kNotifiedError = 4002,
  kNotYetInitialized = 4003,
  kCanOnlyWriteToStdin = 4004,
  kInvalidSignal = 4005,
  kJobCompleted = 4999,
};

std::string json_text(std::string_view text) {
  std::string made;
  runtime::append_json_string(text, made);
  return made;
}

Goodbye error(std::string_view message) {
  return {{fmt::format("{{\"type\":\"error\",\"message\":{}}}", json_text(message))},
          kNotifiedError,
          "Notified Error"};
}

Heard refused(Goodbye last) {
  Heard heard;
  heard.refusal = std::move(last);
  return heard;
}

std::string text_in(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string stage_message(const char* stage) {
  return fmt::format("{{\"type\":\"stage\",\"stage\":\"{}\"}}", stage);
}

std::string exit_message(const char* stage, std::string_view code, std::string_view signal) {
  return fmt::format("{{\"type\":\"exit\",\"stage\":\"{}\",\"code\":{},\"signal\":{}}}", stage,
                     code, signal);
}

// The original's names of the real-time signals from the 16th on count from the other end.
std::optional<int> number_of(const std::string& signal) {
  constexpr int kFirst = 50, kLast = 64;
  for (int number = kFirst; number <= kLast; ++number) {
    if (signal == fmt::format("SIGRTMIN+{}", number - 34)) return std::nullopt;
    const std::string name =
        number == kLast ? "SIGRTMAX" : fmt::format("SIGRTMAX-{}", kLast - number);
    if (signal == name) return number;
  }
  return runtime::signal_number(signal);
}

}  // namespace

sys::Milliseconds ConnectProtocol::patience() const { return kInitPatience; }

Goodbye ConnectProtocol::too_late() {
  return {{}, kInitializationTimeout, "Initialization Timeout"};
}

// Other fields, and messages of other types, mean nothing.
Heard ConnectProtocol::hear(const Frames::Message& message) {
  const json read = parsed(message.bytes);
  if (read.is_discarded()) return refused(error("the message is not JSON"));
  if (read.is_null()) return refused(error("the message is not a JSON object"));
  if (!read.is_object()) return {};
  const std::string type = text_in(read, "type");
  if (type == "init") return init(message.bytes);
  if (type != "data" && type != "signal") return {};
  if (!language_) return refused({{}, kNotYetInitialized, "Not yet initialized"});
  Heard heard;
  if (type == "signal") {
    const auto number = number_of(text_in(read, "signal"));
    if (!number) return refused({{}, kInvalidSignal, "Invalid signal"});
    heard.signal = *number;
    return heard;
  }
  if (text_in(read, "stream") != "stdin")
    return refused({{}, kCanOnlyWriteToStdin, "Can only write to stdin"});
  const auto data = read.find("data");
  if (data == read.end() || !data->is_string())
    return refused(error("data is required as a string"));
  heard.input = *data;
  return heard;
}

Heard ConnectProtocol::init(std::string_view text) {
  if (language_) return refused({{}, kAlreadyInitialized, "Already Initialized"});
  auto read = read_init(text, languages_, limits_, defaults_);
  if (const auto* why = std::get_if<std::string>(&read)) return refused(error(*why));
  auto& execution = std::get<Execution>(read);
  language_ = execution.language;
  Heard heard;
  heard.job = std::move(execution.job);
  heard.words = [ending = ending_](const runtime::JobResult& result) {
    *ending = ending_of(result);
    return Response{};
  };
  return heard;
}

std::vector<std::string> ConnectProtocol::accepted() {
  return {fmt::format("{{\"type\":\"runtime\",\"language\":{},\"version\":\"{}\"}}",
                      json_text(language_->name), service::text_of(language_->version))};
}

// A program that was compiled before is run at once; for its client it is compiled all the same.
std::vector<std::string> ConnectProtocol::stage(LiveIo::Stage stage, const std::string&) {
  std::vector<std::string> said;
  if (language_->compiled && !compiling_) said.push_back(stage_message("compile"));
  compiling_ = language_->compiled;
  if (stage != LiveIo::Stage::kRunning) return said;
  if (compiling_) said.push_back(exit_message("compile", "0", "null"));
  said.push_back(stage_message("run"));
  return said;
}

std::string ConnectProtocol::output(runtime::Stream stream, std::string_view bytes) {
  return fmt::format("{{\"type\":\"data\",\"stream\":\"{}\",\"data\":{}}}",
                     stream == runtime::Stream::kStdout ? "stdout" : "stderr", json_text(bytes));
}

Goodbye ConnectProtocol::ended(const Finished& finished) {
  if (finished.expired) return error("the job could not be started in time");
  const Ending& ending = *ending_;
  if (ending.why) return error(*ending.why);
  Goodbye last{{}, kJobCompleted, "Job Completed"};
  if (ending.compile_failed) {
    if (!compiling_) last.messages.push_back(stage_message("compile"));
    if (!ending.complaint.empty())
      last.messages.push_back(output(runtime::Stream::kStderr, ending.complaint));
  }
  last.messages.push_back(
      exit_message(ending.compile_failed ? "compile" : "run", ending.code, ending.signal));
  return last;
}

Goodbye ConnectProtocol::busy(const Dispatcher::Busy& why) { return error(why.why); }

}  // namespace service::piston
