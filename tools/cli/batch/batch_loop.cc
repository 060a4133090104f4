#include "tools/cli/batch/batch_loop.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace cli {
namespace {

// The times that Ctrl-C may take: cancelled jobs come back, then finished results are written.
constexpr sys::Milliseconds kCancelPatience{500}, kWritePatience{300};

double seconds_since(sys::Nanoseconds start) {
  return static_cast<double>((sys::monotonic_now() - start).count()) / 1e9;
}

// The engine knows a job that it refuses, for an unknown template for example, by its id only.
void add_line_number(runtime::JobResult& result, size_t number) {
  if (result.verdict.outcome != runtime::Outcome::kBadJob) return;
  runtime::Detail& detail = result.verdict.detail;
  detail.emplace(detail.begin(), "line", static_cast<int64_t>(number));
}

}  // namespace

BatchLoop::Report BatchLoop::run(Ends ends, size_t longest_line) {
  sys::Nanoseconds start = sys::monotonic_now();
  ends_ = ends;
  reader_ = LineReader(longest_line);
  sys::Result<std::shared_ptr<Outbox>> outbox = Outbox::open(ends.out, bounds_);
  if (!outbox) return {Why::kCannotWrite, {}, 0, outbox.error()};
  outbox_ = *outbox;

  std::optional<Why> why;
  while (!why) {
    take_lines();
    why = ended();
    if (!why) wait();
  }
  if (*why != Why::kDone) abandon();
  progress_.clear();

  Report report{*why, outbox_->tally(), seconds_since(start), read_error_};
  if (outbox_->writer().state() == ResultWriter::State::kFailed) {
    report.why = Why::kCannotWrite;
    report.error = outbox_->writer().error();
  }
  return report;
}

// The loop waits for whatever stopped the reading: asked again, the answer may be another one.
void BatchLoop::take_lines() {
  full_ = true;
  while (outbox_->has_room()) {
    std::optional<Line> line = reader_.next();
    if (!line) {
      full_ = false;
      return;
    }
    if (!announces_parts(*line)) accept(*std::move(line));
  }
}

// A client that sends parts can read them, too; one that sends none need not know of them.
bool BatchLoop::announces_parts(const Line& line) {
  auto sizes = runtime::announced_parts(line.text);
  if (!sizes) return false;
  outbox_->write_parts();
  auto objection = runtime::objection_to_parts(*sizes);
  objection ? reader_.pass_over(runtime::total_of(*sizes), *std::move(objection))
            : reader_.expect(*std::move(sizes));
  return true;
}

void BatchLoop::accept(Line line) {
  size_t bytes = line.text.size();
  for (const std::string& part : line.parts) bytes += part.size();
  const size_t number = line.number;
  JobLines::Read read = lines_.read(std::move(line));
  if (auto* earlier = std::get_if<EarlierResult>(&read)) {
    outbox_->skipped(earlier->label, earlier->kind);
    return;
  }
  if (auto* withdrawal = std::get_if<Withdrawal>(&read)) {
    if (under_way_->withdraw(withdrawal->id)) engine_.cancel_withdrawn();
    return;
  }
  outbox_->began(bytes);
  if (auto* refused = std::get_if<runtime::JobResult>(&read)) {
    outbox_->finished(*refused, bytes);
    return;
  }
  runtime::Job job = std::get<runtime::Job>(std::move(read));
  job.watch = under_way_->add(job.id);
  auto done = [outbox = outbox_, under_way = under_way_, id = job.id, watch = job.watch, bytes,
               number](runtime::JobResult result) {
    under_way->remove(id, watch);
    add_line_number(result, number);
    outbox->finished(result, bytes);
  };
  engine_.submit(std::move(job), std::move(done));
}

std::optional<BatchLoop::Why> BatchLoop::ended() {
  if (stopped_) return Why::kInterrupted;
  if (read_error_) return Why::kCannotRead;
  if (outbox_->writer().state() == ResultWriter::State::kFailed) return Why::kCannotWrite;
  if (reader_gone_ || outbox_->writer().state() == ResultWriter::State::kReaderGone) {
    return Why::kReaderGone;
  }
  bool nothing_left = reader_.finished() && !full_ && outbox_->under_way() == 0;
  return nothing_left ? std::optional(Why::kDone) : std::nullopt;
}

// Sleeps until there is input that is wanted, room for it, the last result is out, or a signal.
void BatchLoop::wait() {
  outbox_->wake_on(full_                ? Outbox::Wake::kRoom
                   : reader_.finished() ? Outbox::Wake::kEmpty
                                        : Outbox::Wake::kNever);
  bool settled_meanwhile =
      (full_ && outbox_->has_room()) || (reader_.finished() && outbox_->under_way() == 0);
  sys::Nanoseconds now = sys::monotonic_now();
  if (progress_.due(now)) progress_.tick(now, outbox_->tally());
  auto period = progress_.period();
  int timeout = settled_meanwhile ? 0 : period ? static_cast<int>(period->count()) : -1;

  const bool wants_input = !full_ && !reader_.finished();
  std::array<pollfd, 5> entries{{{wants_input ? ends_.in : -1, POLLIN, 0},
                                 {ends_.stop, POLLIN, 0},
                                 {outbox_->wake_fd(), POLLIN, 0},
                                 {ends_.out, 0, 0},
                                 {ends_.guests ? ends_.guests->door() : -1, POLLIN, 0}}};
  if (::poll(entries.data(), entries.size(), timeout) <= 0) return;
  if (entries[2].revents != 0) outbox_->calm();
  stopped_ = entries[1].revents != 0;
  reader_gone_ = (entries[3].revents & (POLLERR | POLLHUP)) != 0;  // of a pipe, of a socket
  if (entries[4].revents != 0) ends_.guests->answer_the_door();
  if (entries[0].revents == 0 || stopped_) return;
  sys::Result<bool> more = reader_.fill(ends_.in);
  if (!more) read_error_ = more.error();
}

// Takes back what runs. Results that are finished are still written, within a bound.
void BatchLoop::abandon() {
  outbox_->drop_cancelled();
  if (ends_.shared) {
    under_way_->withdraw_all();
    engine_.cancel_withdrawn();
  } else {
    engine_.cancel_all();
  }
  outbox_->wake_on(Outbox::Wake::kEmpty);
  sys::Nanoseconds deadline = sys::monotonic_now() + kCancelPatience;
  while (outbox_->under_way() > 0) {
    auto left = std::chrono::ceil<sys::Milliseconds>(deadline - sys::monotonic_now());
    if (left.count() <= 0) {
      if (!is_guest()) break;
      // The next guest's socket may get this number, so nothing may be left to be written to it.
      ::shutdown(ends_.out, SHUT_RDWR);
    }
    pollfd entry{outbox_->wake_fd(), POLLIN, 0};
    const int patience = left.count() > 0 ? static_cast<int>(left.count()) : -1;
    if (::poll(&entry, 1, patience) > 0) outbox_->calm();
  }
  outbox_->writer().drain(kWritePatience);
}

}  // namespace cli
