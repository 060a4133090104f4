#include "service/apis/native/batch_stream.h"

#include <utility>

namespace service {

namespace {

constexpr size_t kLongLine = size_t{128} << 10;  // is read on another thread

}  // namespace

BatchStream::BatchStream(ExchangePtr exchange, runtime::Loop& loop, Dispatcher& dispatcher,
                         BatchBody body, runtime::JobDefaults defaults, size_t at_once, Over over)
    : JobStream(std::move(exchange), dispatcher, at_once, std::move(over)),
      loop_(loop),
      reader_(std::move(body), exchange_->request.body, std::move(defaults),
              BatchReader::PartsAre::kRead) {}

bool BatchStream::take_next() {
  if (reading_) return false;
  if (!next_ && reader_.next_bytes() > kLongLine) {
    read_aside();
    return false;
  }
  if (!next_) next_ = reader_.next();
  if (!next_ || !may_hold(*next_)) return false;
  std::optional<BatchReader::Item> item = std::exchange(next_, std::nullopt);
  note(item->id);
  if (auto* job = std::get_if<runtime::Job>(&item->content)) {
    submit_job(std::move(*job));
  } else {
    std::string& result = std::get<std::string>(item->content);
    add_service_object(exchange_->trace, result);
    exchange_->write(result + "\n");
  }
  return true;
}

bool BatchStream::is_at_end() const { return !reading_ && !next_ && reader_.at_end(); }

// Reading a line may take longer than others want to wait.
void BatchStream::read_aside() {
  reading_ = true;
  runtime::run_aside(
      loop_, [self = self<BatchStream>()] { self->next_ = self->reader_.next(); },
      [self = self<BatchStream>()] {
        self->reading_ = false;
        self->feed();
      });
}

// The job, beside the line that it was made of. False: it waits until others have ended; where none
// are under way it is told that it cannot be.
bool BatchStream::may_hold(BatchReader::Item& item) {
  const auto* job = std::get_if<runtime::Job>(&item.content);
  if (!job) return true;
  if (auto room = room_for(*job)) {
    next_share_ = *std::move(room);
    return true;
  }
  if (is_busy()) return false;
  item.content = without_room(*job);
  return true;
}

void BatchStream::submit_job(runtime::Job job) {
  Dispatcher::Order order;
  order.share = std::move(next_share_);
  order.with_parts = reader_.wants_parts();
  order.job = std::move(job);
  submit(std::move(order), [exchange = exchange_](Finished finished) {
    // The parts come first, and what is written with one call stays together.
    std::string answer = finished.parts.empty() ? std::move(finished.json)
                                                : std::move(finished.parts) + finished.json;
    exchange->write(std::move(answer) + "\n", std::move(finished.held));
  });
}

}  // namespace service
