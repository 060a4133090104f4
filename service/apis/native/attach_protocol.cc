#include "service/apis/native/attach_protocol.h"

#include <fmt/format.h>

#include "runtime/json/json_reader.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/admission/refusals.h"

namespace service {

using runtime::JsonReader;

namespace {

constexpr uint16_t kOfStatus = 4000;  // what is added to a status makes a close code of ours

Heard refused(const Response& why) {
  Heard heard;
  heard.refusal = AttachProtocol::goodbye(why);
  return heard;
}

// One message after the job. The fields may come in any order.
class MessageReader {
 public:
  explicit MessageReader(std::string_view text) : in_(text) {}

  bool read(Heard& heard) {
    if (in_.peek() != JsonReader::Type::kObject) return in_.expected("an object");
    in_.open_object();
    std::string key;
    for (bool first = true; in_.next_key(first, key); first = false) {
      if (!field(key)) return false;
    }
    return in_.ok() && in_.finish() && understand(heard);
  }
  std::string why() const { return error_.empty() ? in_.error().text() : error_; }

 private:
  bool field(const std::string& key) {
    if (key == "type") return text(key, type_);
    if (key == "text") return text(key, text_);
    if (key == "base64") return text(key, base64_);
    if (key == "end") {
      if (in_.peek() != JsonReader::Type::kBoolean) in_.expected("true or false");
      return (in_.ok() && in_.read_boolean(end_)) || in_.at_field(key);
    }
    in_.fail("unknown field; expected type, text, base64 or end");
    return in_.at_field(key);
  }

  bool text(const std::string& key, std::optional<std::string>& into) {
    if (in_.peek() != JsonReader::Type::kString) in_.expected("a text");
    return (in_.ok() && in_.read_string(into.emplace())) || in_.at_field(key);
  }

  bool understand(Heard& heard) {
    const bool has_input = text_ || base64_ || end_;
    if (!type_) return fail("type: required");
    if (*type_ == "cancel" && !has_input) return heard.cancel = true;
    if (*type_ == "cancel") return fail("type: a cancel has no other fields");
    if (*type_ != "stdin") return fail("type: expected stdin or cancel");
    if (text_ && base64_) return fail("base64: not together with text");
    if (!has_input) return fail("text: required (or base64, or end)");
    heard.end_of_input = end_;
    if (text_) heard.input = *std::move(text_);
    if (base64_ && !runtime::append_from_base64(*base64_, heard.input))
      return fail("base64: not base64");
    return true;
  }

  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  JsonReader in_;
  std::string error_;
  std::optional<std::string> type_, text_, base64_;
  bool end_ = false;
};

// The objection to a job that is fine elsewhere; null: there is none.
const char* objection(const runtime::Job& job) {
  if (!job.tests.empty()) return "tests: not here, where the program's input is live";
  if (job.determinism_runs > 1)
    return "determinism.runs: only 1 here, because what comes live cannot come again";
  return nullptr;
}

}  // namespace

Goodbye AttachProtocol::goodbye(const Response& refusal) {
  Goodbye last;
  std::string text = "{\"type\":\"error\"";
  for (const auto& [name, value] : refusal.headers) {
    if (name == "Retry-After") text += ",\"retry_after\":" + value;
  }
  text += "," + refusal.body.substr(1);
  text.erase(text.find_last_not_of('\n') + 1);
  last.messages.push_back(std::move(text));
  last.code = static_cast<uint16_t>(kOfStatus + refusal.status);
  last.reason = reason_of(refusal.status);
  return last;
}

Heard AttachProtocol::hear(const Frames::Message& message) {
  if (!message.is_text) {
    Heard heard;
    heard.refusal = Goodbye{{}, kCloseUnsupported, "expected text messages"};
    return heard;
  }
  if (!has_job_) return hear_job(message.bytes);
  Heard heard;
  MessageReader reader(message.bytes);
  if (reader.read(heard)) return heard;
  return refused(error_response(400, "bad_message", reader.why()));
}

Heard AttachProtocol::hear_job(std::string_view text) {
  runtime::JobDefaults defaults = defaults_;
  defaults.job.determinism_runs = 1;
  sys::Result<runtime::Job> job = runtime::parse_job(text, defaults);
  if (!job) return refused(bad_job_response(job.error().text()));
  if (!knows_template_(job->template_name)) return refused(unknown_template(job->template_name));
  if (const char* why = objection(*job)) return refused(bad_job_response(why));
  has_job_ = true;
  Heard heard;
  heard.job = std::move(job).value();
  return heard;
}

Goodbye AttachProtocol::too_late() {
  return goodbye(error_response(408, "too_slow", "no job came in time"));
}

std::vector<std::string> AttachProtocol::stage(runtime::LiveIo::Stage stage,
                                               const std::string& id) {
  if (stage != runtime::LiveIo::Stage::kRunning) return {};
  std::string text = "{\"type\":\"started\",\"id\":";
  runtime::append_json_string(id, text);
  return {text + "}"};
}

std::string AttachProtocol::output(runtime::Stream stream, std::string_view bytes) {
  const bool is_text = runtime::is_utf8(bytes);
  std::string text = fmt::format(
      "{{\"type\":\"{}\",\"{}\":", stream == runtime::Stream::kStdout ? "stdout" : "stderr",
      is_text ? "text" : "base64");
  if (is_text) {
    runtime::append_json_string(bytes, text);
    return text + "}";
  }
  text += '"';
  runtime::append_base64(bytes, text);
  return text + "\"}";
}

Goodbye AttachProtocol::ended(const Finished& finished) {
  if (finished.expired) return goodbye(expired());
  return {{"{\"type\":\"result\"," + finished.json.substr(1)}, kCloseNormal, ""};
}

Goodbye AttachProtocol::busy(const Dispatcher::Busy& why) { return goodbye(service::busy(why)); }

}  // namespace service
