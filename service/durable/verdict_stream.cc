#include "service/durable/verdict_stream.h"

#include <utility>

namespace service {

using sys::Result;

namespace {

constexpr size_t kAtOnce = size_t{256} << 10;  // bytes of verdicts

}  // namespace

VerdictStream::VerdictStream(ExchangePtr exchange, DurableJobs& jobs, Deadlines& deadlines,
                             Progress progress, size_t after)
    : exchange_(std::move(exchange)),
      jobs_(jobs),
      deadlines_(deadlines),
      progress_(progress),
      after_(after) {}

void VerdictStream::start(sys::Milliseconds wait) {
  if (!exchange_->open()) return;
  const auto self = shared_from_this();
  exchange_->when_gone([self] { self->end(); });
  exchange_->when_room([self] { self->read(); });
  if (wait.count() > 0 && progress_.left > 0 && !jobs_.ending()) {
    waiting_ = true;
    watcher_ = jobs_.watch(progress_.request, [self](const VerdictEntry* verdict) {
      self->changed_ = true;
      verdict && !self->jobs_.ending() ? self->read() : self->stop_waiting();
    });
    until_ = deadlines_.at(sys::monotonic_now() + wait, [self] {
      self->until_ = 0;
      self->stop_waiting();
    });
  }
  Response head{.type = "application/x-ndjson"};
  head.headers.emplace_back("X-Zygo-Jobs", std::to_string(progress_.jobs));
  exchange_->begin(std::move(head));
  read();
}

void VerdictStream::read() {
  if (reading_ || over_ || !exchange_->has_room()) return;
  reading_ = true;
  changed_ = false;
  jobs_.read_verdicts(progress_.request, after_, kAtOnce,
                      [self = shared_from_this()](Result<std::vector<VerdictEntry>> found) {
                        self->got(std::move(found));
                      });
}

// When the disk cannot be read the client has fewer lines than jobs, and comes again for the rest.
void VerdictStream::got(Result<std::vector<VerdictEntry>> found) {
  reading_ = false;
  if (over_) return;
  if (!found) return end();
  for (VerdictEntry& each : *found) exchange_->write(std::move(each.json) + "\n");
  after_ += found->size();
  if (after_ >= progress_.jobs) return end();
  if (!found->empty() || changed_) return read();
  if (!waiting_) end();
}

void VerdictStream::stop_waiting() {
  waiting_ = false;
  if (!reading_) read();
}

void VerdictStream::end() {
  if (std::exchange(over_, true)) return;
  const auto self = shared_from_this();
  deadlines_.forget(until_);
  jobs_.unwatch(progress_.request, watcher_);
  exchange_->end();
}

}  // namespace service
