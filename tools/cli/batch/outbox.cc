#include "tools/cli/batch/outbox.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/api/parts.h"
#include "runtime/api/result_json.h"
#include "tools/cli/verdict_text.h"

namespace cli {

sys::Result<std::shared_ptr<Outbox>> Outbox::open(int out, Bounds bounds) {
  sys::OwnedFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return sys::Error::from_errno("eventfd");
  std::shared_ptr<Outbox> outbox(new Outbox(bounds, std::move(wake)));
  auto settled = [self = outbox.get()](size_t jobs, size_t bytes) { self->settled(jobs, bytes); };
  outbox->writer_ = TRY(ResultWriter::start(out, settled));
  return outbox;
}

void Outbox::began(size_t bytes) {
  ++jobs_;
  bytes_ += bytes;
}

void Outbox::finished(const runtime::JobResult& result, size_t bytes) {
  if (dropping_ && result.verdict.outcome == runtime::Outcome::kCancelled) {
    settled(1, bytes);
    return;
  }
  std::string head, line;
  std::vector<std::string_view> pieces;
  runtime::append_result(result, line, with_parts_ ? &pieces : nullptr);
  line += '\n';
  if (!pieces.empty()) {
    runtime::append_announcement(pieces, head);
    pieces.insert(pieces.begin(), head);
  }
  pieces.push_back(line);
  {
    std::lock_guard lock(mutex_);
    tally_.add(result.verdict.label(),
               is_trouble(result.verdict.outcome) ? Tally::Kind::kTrouble : Tally::Kind::kVerdict);
  }
  for (std::string_view piece : pieces) bytes_ += piece.size();
  bytes_ -= bytes;
  writer_->push(pieces);
}

void Outbox::skipped(std::string_view label, Tally::Kind kind) {
  std::lock_guard lock(mutex_);
  tally_.add_earlier(label, kind);
}

Tally Outbox::tally() const {
  std::lock_guard lock(mutex_);
  return tally_;
}

// The loop stores wake_on_ and then reads the counts; here it is the other way round. Both are
// sequentially consistent, so one of the two sees the other.
void Outbox::settled(size_t jobs, size_t bytes) {
  bytes_ -= bytes;
  size_t left = (jobs_ -= jobs);
  Wake wanted = wake_on_;
  bool room = left <= bounds_.jobs / 2 && bytes_ <= bounds_.bytes / 2;
  bool broken = writer_ && writer_->state() != ResultWriter::State::kOpen;
  if (!broken && !(wanted == Wake::kRoom && room) && !(wanted == Wake::kEmpty && left == 0)) return;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void Outbox::calm() {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t n = ::read(wake_.get(), &count, sizeof count);
}

}  // namespace cli
