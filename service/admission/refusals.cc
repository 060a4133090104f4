#include "service/admission/refusals.h"

#include "runtime/json/job/job_json.h"

namespace service {

Response bad_job_response(std::string message) {
  const runtime::JobResult bad = runtime::bad_job(1, "", "", message);
  std::string path;
  for (const auto& [key, value] : bad.verdict.detail) {
    if (key == "path") path = std::get<std::string>(value);
  }
  return error_response(400, "bad_job", message, path);
}

Response unknown_template(const std::string& name) {
  return bad_job_response("template: \"" + name + "\" is not known; GET /v1/templates has them");
}

Response not_its_tenant(const sys::Error& error) {
  return error_response(403, "tenant", error.text(), "tenant");
}

Response busy(const Dispatcher::Busy& why) {
  return busy_response(429, "busy", why.why, why.retry_after);
}

Response expired() {
  return busy_response(429, "patience", "the job could not be started in the time given", 1);
}

Response key_of_another_request() {
  return error_response(422, "idempotency",
                        "Idempotency-Key: it was sent with another request before");
}

Response not_written(const sys::Error& error) {
  constexpr unsigned kComeBack = 5;  // seconds
  return error.code() == ENOSPC ? busy_response(507, "disk_full", error.text(), kComeBack)
                                : busy_response(503, "disk", error.text(), kComeBack);
}

Response held_too_much() {
  return busy_response(503, "memory", "too many bytes are held for this client already", 1);
}

Response ending() { return busy_response(503, "ending", "the service is ending", 1); }

}  // namespace service
