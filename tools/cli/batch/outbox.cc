#include "tools/cli/batch/outbox.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/json/result/result_json.h"
#include "runtime/values/parts.h"
#include "sandbox/sys/huge_pages.h"
#include "tools/cli/run/verdict_text.h"

namespace cli {
namespace {

// The line behind its parts and what announces them.
std::string behind(std::span<const std::string_view> parts, std::string_view line) {
  std::string all;
  size_t size = line.size();
  for (std::string_view part : parts) size += part.size();
  sys::reserve_huge(all, size + size_t{32} * (parts.size() + 1));  // and the sizes in digits
  runtime::append_announcement(parts, all);
  for (std::string_view part : parts) all += part;
  all += line;
  return all;
}

}  // namespace

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
  std::string line;
  std::vector<std::string_view> parts;
  runtime::append_result(result, line, with_parts_ ? &parts : nullptr);
  line += '\n';
  if (!parts.empty()) line = behind(parts, line);
  {
    std::lock_guard lock(mutex_);
    tally_.add(result.verdict.label(),
               is_trouble(result.verdict.outcome) ? Tally::Kind::kTrouble : Tally::Kind::kVerdict);
  }
  bytes_ += line.size();
  bytes_ -= bytes;
  writer_->push(std::move(line));
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
