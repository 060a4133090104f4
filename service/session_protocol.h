#pragma once
// SessionProtocol: the messages over a WebSocket about one job, in one API. A session
// (live_session.h) carries; a protocol reads the client's messages and writes ours, knows nothing
// of sockets, clocks or the dispatcher, and is the only part that parses what a client sends.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/live_io.h"
#include "service/admission/dispatcher.h"
#include "service/http/frames.h"

namespace service {

// The last words: messages, and a close.
struct Goodbye {
  std::vector<std::string> messages;
  uint16_t code = kCloseNormal;
  std::string reason;
};

// The meaning of one message of a client.
struct Heard {
  std::optional<runtime::Job> job;
  // Runs the job with live input and output, if not as any job.
  std::function<Dispatcher::Run(const std::shared_ptr<runtime::LiveIo>&)> run;
  Dispatcher::Words words;    // of the job's result, any thread; none: our JSON
  uint64_t bytes = 0;         // that the job holds, if they are more than its message
  std::string input;          // for the program's stdin
  bool end_of_input = false;  // of a job: its stdin_bytes are all
  bool cancel = false;
  int signal = 0;  // for the program
  std::optional<Goodbye> refusal;
};

class SessionProtocol {
 public:
  virtual ~SessionProtocol() = default;

  virtual std::string_view api() const { return kNativeApi; }
  // Are messages text, and their contents? If not, output is passed on without regard to
  // characters.
  virtual bool is_text() const { return true; }
  // Reads untrusted bytes. Yields a job at most once.
  virtual Heard hear(const Frames::Message& message) = 0;
  // The next message may make us wait for disks: it is heard on another thread, and nothing else is
  // asked meanwhile.
  virtual bool hears_aside() const { return false; }
  // The longest wait for the first job, and the answer after it.
  virtual sys::Milliseconds patience() const = 0;
  virtual Goodbye too_late() = 0;

  // The job is at the dispatcher.
  virtual std::vector<std::string> accepted() { return {}; }
  virtual std::vector<std::string> stage(runtime::LiveIo::Stage stage, const std::string& id) = 0;
  // `bytes` ends with a whole character, if it is text. Empty: the client does not want it.
  virtual std::string output(runtime::Stream stream, std::string_view bytes) = 0;
  virtual Goodbye ended(const Finished& finished) = 0;
  virtual Goodbye busy(const Dispatcher::Busy& why) = 0;
};

}  // namespace service
