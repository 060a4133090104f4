#include "service/apis/go_judge/stream.h"

#include <fmt/format.h>

#include "runtime/engine/engine.h"
#include "service/apis/go_judge/messages.h"

namespace service::go_judge {

namespace {

// The first bytes of messages.
enum Kind : char {
  kRequest = 1,
  kResize = 2,
  kInput = 3,
  kCancel = 4,
  kResults = 1,
  kOutput = 2,
};

Heard refused(Goodbye last) {
  Heard heard;
  heard.refusal = std::move(last);
  return heard;
}

Heard misunderstood(std::string why) { return refused({{}, kCloseUnsupported, std::move(why)}); }

Goodbye results(const Response& answer, uint16_t code) {
  return {{static_cast<char>(kResults) + socket_answer("", answer)}, code, ""};
}

}  // namespace

Heard StreamProtocol::hear(const Frames::Message& message) {
  const std::string_view bytes = message.bytes;
  if (!has_command_) return hear_request(bytes);
  if (*cancelled_) return {};  // as in the original nothing is listened to any more
  if (bytes.empty()) return misunderstood("the message is empty");
  switch (bytes.front()) {
    case kResize:
      return misunderstood("resize: there are no terminals here");
    case kInput:
      return hear_input(bytes);
    case kCancel: {
      *cancelled_ = true;
      Heard heard;
      heard.cancel = true;
      return heard;
    }
    default:
      return misunderstood("expected input (3) or cancel (4)");
  }
}

Heard StreamProtocol::hear_request(std::string_view message) {
  if (!message.starts_with(kRequest)) return misunderstood("expected a request (1 and JSON)");
  auto read = house_.read(message.substr(1));
  if (const auto* why = std::get_if<Response>(&read)) return refused(results(*why, kCloseNormal));
  return take(std::get<Request>(std::move(read)));
}

Heard StreamProtocol::take(Request request) {
  Command& command = request.commands.front();
  has_command_ = true;
  streams_in_ = command.streams_in;
  streams_out_ = command.streams_out;
  streams_err_ = command.streams_err;
  command.cancelled = cancelled_;
  Heard heard;
  heard.bytes = request.bytes;
  runtime::Job& job = heard.job.emplace();  // at the dispatcher; the command is what is run
  job.template_name = runtime::kCommandTemplate;
  job.priority = command.job.priority;
  job.stdin_bytes = std::exchange(command.job.stdin_bytes, "");
  heard.end_of_input = !streams_in_;
  auto held = std::make_shared<Request>(std::move(request));
  heard.run = [held, run = house_.run,
               answer = answer_](const std::shared_ptr<runtime::LiveIo>& live) {
    held->commands.front().job.live = live;
    return run(std::move(*held), answer);
  };
  return heard;
}

// The second byte: the number of the command, and the descriptor.
Heard StreamProtocol::hear_input(std::string_view message) const {
  if (message.size() < 2) return misunderstood("the input has no descriptor");
  const auto where = static_cast<unsigned char>(message[1]);
  if (where != 0 || !streams_in_)
    return misunderstood(fmt::format("input does not exist: {}/{}", where >> 4, where & 0xf));
  Heard heard;
  heard.input = message.substr(2);
  return heard;
}

Goodbye StreamProtocol::too_late() { return {{}, kClosePolicy, "no request came in time"}; }

std::string StreamProtocol::output(runtime::Stream stream, std::string_view bytes) {
  const bool is_out = stream == runtime::Stream::kStdout;
  if (!(is_out ? streams_out_ : streams_err_)) return "";
  return std::string{kOutput, is_out ? '\1' : '\2'}.append(bytes);
}

Goodbye StreamProtocol::ended(const Finished&) {
  if (!answer_->body.empty()) return results(*answer_, kCloseNormal);
  return results(text_response(500, "cancelled before execute"), kCloseNormal);
}

Goodbye StreamProtocol::busy(const Dispatcher::Busy& why) {
  return results(text_response(500, why.why), kCloseTryLater);
}

}  // namespace service::go_judge
