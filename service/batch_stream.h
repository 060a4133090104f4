#pragma once
// BatchStream: one POST /v1/batches. Takes job after job from the body as there is room at the desk
// and in the client's socket, and writes each result when it comes. Its jobs are withdrawn when the
// client is gone. Loop thread only; shared by the service and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/api/job_json.h"
#include "service/desk.h"
#include "service/http/exchange.h"

namespace service {

// The jobs in the body of a batch: lines, or the elements of {"defaults": {}, "jobs": []}.
struct BatchBody {
  struct Line {
    size_t number;  // from 1
    std::string_view text;
  };
  std::optional<runtime::JobDefaults> defaults;
  bool is_object = false;  // the second form
  std::string elements;    // of it, a line each

  static sys::Result<BatchBody> read(std::string_view body);
};

class BatchStream : public std::enable_shared_from_this<BatchStream> {
 public:
  using Over = std::function<void(const std::shared_ptr<BatchStream>&)>;
  BatchStream(ExchangePtr exchange, Desk& desk, BatchBody body, runtime::JobDefaults defaults,
              size_t at_once, Over over);

  void start();
  void feed();

 private:
  std::optional<BatchBody::Line> next_line();
  void take(const BatchBody::Line& line);
  void submit(runtime::Job job);
  void write_bad_job(const BatchBody::Line& line, std::string message,
                     runtime::JobIdentity identity);
  std::string generated_id(size_t number);
  void note(const std::string& id);
  void abandon();
  void end_if_done();

  const ExchangePtr exchange_;
  Desk& desk_;
  const runtime::JobDefaults defaults_;
  const BatchBody body_;
  const size_t at_once_;
  Over over_;
  std::string_view left_;
  size_t number_ = 0;
  std::unordered_set<std::string> ids_;
  std::unordered_set<Desk::Ticket> under_way_;
  bool feeding_ = false, abandoned_ = false;
};

}  // namespace service
