#pragma once
// The messages of Piston's `connect`: `init`, `data` and `signal` come in; `runtime`, `stage`,
// `data`, `exit` and `error` go out, with the original's close codes (engineer-man/piston 3.1.1).
// Unlike there, a signal reaches the program, input that comes before the program runs is kept for
// it, and no character is broken in two. Pure.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "service/apis/piston/piston.h"
#include "service/session_protocol.h"

namespace service::piston {

class ConnectProtocol : public SessionProtocol {
 public:
  // `limits` and `defaults` are borrowed.
  ConnectProtocol(std::vector<Language> languages, const Limits& limits,
                  const runtime::JobDefaults& defaults)
      : languages_(std::move(languages)), limits_(limits), defaults_(defaults) {}

  std::string_view api() const override { return kName; }
  Heard hear(const Frames::Message& message) override;
  sys::Milliseconds patience() const override;
  Goodbye too_late() override;
  std::vector<std::string> accepted() override;
  std::vector<std::string> stage(runtime::LiveIo::Stage stage, const std::string& id) override;
  std::string output(runtime::Stream stream, std::string_view bytes) override;
  Goodbye ended(const Finished& finished) override;
  Goodbye busy(const Dispatcher::Busy& why) override;

 private:
  Heard init(std::string_view text);

  const std::vector<Language> languages_;
  const Limits& limits_;
  const runtime::JobDefaults& defaults_;
  std::optional<Language> language_;  // of the job; none: there is none
  bool compiling_ = false;            // so was said
  const std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();  // of the job
};

}  // namespace service::piston
