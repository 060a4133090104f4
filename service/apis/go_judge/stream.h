#pragma once
// The messages of go-judge's /stream: one command whose stdin comes in, and whose output goes out,
// as binary messages. The first byte says what a message is; that of a client's first is 1, and a
// request of /run follows. Any other message ends the connection, as in the original, but with a
// reason (criyle/go-judge 1.11). Pure but for `House`; the bytes are untrusted.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "service/apis/go_judge/go_judge.h"
#include "service/session_protocol.h"

namespace service::go_judge {

class StreamProtocol : public SessionProtocol {
 public:
  struct House {
    std::function<std::variant<Request, Response>(std::string_view text)> read;  // any thread
    // How it is run; when that has ended, `answer` is what /run would have said.
    std::function<Dispatcher::Run(Request, std::shared_ptr<Response> answer)> run;
    sys::Milliseconds patience;
  };
  explicit StreamProtocol(House house) : house_(std::move(house)) {}

  std::string_view api() const override { return kApiName; }
  bool is_text() const override { return false; }
  Heard hear(const Frames::Message& message) override;
  bool hears_aside() const override { return !has_command_; }  // its files may be on a disk
  sys::Milliseconds patience() const override { return house_.patience; }
  Goodbye too_late() override;
  std::vector<std::string> stage(runtime::LiveIo::Stage, const std::string&) override { return {}; }
  std::string output(runtime::Stream stream, std::string_view bytes) override;
  Goodbye ended(const Finished& finished) override;
  Goodbye busy(const Dispatcher::Busy& why) override;

 private:
  Heard hear_request(std::string_view message);
  Heard take(Request request);
  Heard hear_input(std::string_view message) const;

  const House house_;
  bool has_command_ = false, streams_in_ = false, streams_out_ = false, streams_err_ = false;
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<Response> answer_ = std::make_shared<Response>();
};

}  // namespace service::go_judge
