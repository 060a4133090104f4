#pragma once
// The native messages of a job with live input and output: /v1/attach (docs/http.md). The first
// message is a job, as POST /v1/jobs takes it; then stdin and cancel come in, and the output goes
// out as it is written, and at last the result. Pure.

#include <functional>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"
#include "service/session_protocol.h"

namespace service {

class AttachProtocol : public SessionProtocol {
 public:
  using KnowsTemplate = std::function<bool(const std::string&)>;
  // `defaults` are borrowed. How often a job is run is no default here: it is once.
  AttachProtocol(const runtime::JobDefaults& defaults, KnowsTemplate knows_template,
                 sys::Milliseconds patience)
      : defaults_(defaults), knows_template_(std::move(knows_template)), patience_(patience) {}

  Heard hear(const Frames::Message& message) override;
  sys::Milliseconds patience() const override { return patience_; }
  Goodbye too_late() override;
  std::vector<std::string> stage(runtime::LiveIo::Stage stage, const std::string& id) override;
  std::string output(runtime::Stream stream, std::string_view bytes) override;
  Goodbye ended(const Finished& finished) override;
  Goodbye busy(const Dispatcher::Busy& why) override;

  // An answer of POST /v1/jobs as a message and a close: 4000 and its status.
  static Goodbye goodbye(const Response& refusal);

 private:
  Heard hear_job(std::string_view text);

  const runtime::JobDefaults& defaults_;
  KnowsTemplate knows_template_;
  const sys::Milliseconds patience_;
  bool has_job_ = false;
};

}  // namespace service
