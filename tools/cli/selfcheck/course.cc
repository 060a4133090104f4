#include "tools/cli/selfcheck/course.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>

#include "images/sha256.h"
#include "runtime/json/job/job_json.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

using nlohmann::json;
using runtime::Job;
using runtime::JobResult;
using sys::Error;
using sys::Result;

// More than all the pipes on the way hold, so that whoever has written it knows that the neighbour
// runs and reads.
constexpr size_t kFeed = size_t{1} << 20;
constexpr uint32_t kFirstFiles = 600;  // inode limits tell cells apart: no two attempts share one

// "memory_mb=48, pids=12" as a JSON object.
json limits_of(const std::string& text, uint32_t files) {
  json limits = {{"files", files}, {"disk_mb", 16}};
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    size_t equals = text.find('=', at);
    if (equals < end) {
      size_t name = text.find_first_not_of(' ', at);
      limits[text.substr(name, equals - name)] = std::atoi(text.c_str() + equals + 1);
    }
    at = end + 1;
  }
  return limits;
}

}  // namespace

// A shard leaves one result here; shared with the callback, which may outlive the wait.
class Course::Pending {
 public:
  Pending(runtime::Engine& engine, Job job) {
    engine.submit(std::move(job), [box = box_](JobResult result) {
      std::lock_guard lock(box->mutex);
      box->result = std::move(result);
      uint64_t one = 1;
      (void)!::write(box->arrived.get(), &one, sizeof one);
    });
  }
  int arrived() const { return box_->arrived.get(); }
  std::optional<JobResult> take() {
    std::lock_guard lock(box_->mutex);
    return std::exchange(box_->result, std::nullopt);
  }
  // False: the stop signal came first.
  bool wait(int stop) const {
    std::array<pollfd, 2> entries{{{arrived(), POLLIN, 0}, {stop, POLLIN, 0}}};
    while (::poll(entries.data(), entries.size(), -1) < 0 && errno == EINTR) {
    }
    return entries[0].revents != 0;
  }

 private:
  struct Box {
    sys::OwnedFd arrived{::eventfd(0, EFD_CLOEXEC)};
    std::mutex mutex;
    std::optional<JobResult> result;
  };
  std::shared_ptr<Box> box_ = std::make_shared<Box>();
};

// The honest job of another cell. It runs from begin() until end() lets go of its input.
class Course::Neighbour {
 public:
  static Result<Neighbour> create(runtime::Engine& engine, Job job, const std::string& secret) {
    sys::Pipe pipe = TRY(sys::make_pipe());
    if (::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK) < 0) return Error::from_errno("fcntl");
    job.stdin_fd = pipe.reader.get();
    return Neighbour(engine, std::move(job), std::move(pipe), secret);
  }

  const std::string& expected() const { return expected_; }

  // True once it is known to read; false when it ended first, or the stop signal came.
  bool begin(int stop) {
    const std::string piece(65536, 'n');
    for (size_t written = 0; written < kFeed;) {
      std::array<pollfd, 3> entries{
          {{pipe_.writer.get(), POLLOUT, 0}, {pending_.arrived(), POLLIN, 0}, {stop, POLLIN, 0}}};
      if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return false;
      if (entries[1].revents != 0 || entries[2].revents != 0) return false;
      ssize_t n =
          ::write(pipe_.writer.get(), piece.data(), std::min(piece.size(), kFeed - written));
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (n > 0) written += static_cast<size_t>(n);
    }
    return true;
  }

  std::optional<JobResult> end(int stop) {
    pipe_.writer.reset();
    return pending_.wait(stop) ? pending_.take() : std::nullopt;
  }

 private:
  Neighbour(runtime::Engine& engine, Job job, sys::Pipe pipe, const std::string& secret)
      : pipe_(std::move(pipe)), pending_(engine, std::move(job)) {
    expected_ = images::sha256_of(std::string(kFeed, 'n')) + " " + images::sha256_of(secret) + "\n";
  }
  sys::Pipe pipe_;
  Pending pending_;
  std::string expected_;
};

Course::Course(runtime::Engine& engine, Bait& bait, std::string template_name,
               const StopSignals* stop)
    : engine_(engine), bait_(bait), template_name_(std::move(template_name)), stop_(stop) {}

Result<Job> Course::job_of(const Attempt& attempt, unsigned cell) const {
  json line = {{"id", attempt.name},
               {"source", attempt.source},
               {"template", template_name_},
               {"limits", limits_of(attempt.limits, kFirstFiles + cell)},
               {"policy", {{"profile", attempt.profile}}}};
  std::string facts = bait_.facts();
  if (attempt.func.empty()) {
    line["argv"] = {facts};
  } else {
    line["mode"] = "call";
    line["func"] = attempt.func;
    line["inputs"] = {json::parse(facts)};
  }
  Result<Job> job = runtime::parse_job(line.dump(), {});
  if (!job) return Error::because("attempt " + attempt.name + ": " + job.error().text());
  return job;
}

void Course::note(const JobResult& result) {
  if (!result.level) return;
  level_ = result.level;
  enforced_ = sandbox::Layers::from_bits(enforced_.bits() & result.enforced.bits());
}

std::optional<JobResult> Course::perform(Job job) {
  Pending pending(engine_, std::move(job));
  if (!pending.wait(stop_ == nullptr ? -1 : stop_->fd())) return std::nullopt;
  std::optional<JobResult> result = pending.take();
  if (result) note(*result);
  return result;
}

Result<std::optional<Finding>> Course::run(const Attempt& attempt,
                                           const std::vector<Attempt>& all) {
  const int stop = stop_ == nullptr ? -1 : stop_->fd();
  const unsigned cell = cells_++;
  Witness witness{.secret = bait_.secret()};

  json honest = {{"id", "neighbour"},
                 {"source", selfcheck_program("neighbour")},
                 {"template", template_name_},
                 {"argv", {attempt.name + bait_.secret()}},
                 {"limits", {{"wall_ms", 120000}, {"cpu_ms", 60000}}}};
  Job job = TRY(runtime::parse_job(honest.dump(), {}));
  Neighbour neighbour =
      TRY(Neighbour::create(engine_, std::move(job), attempt.name + bait_.secret()));
  witness.neighbour_output = neighbour.expected();
  const bool beside = neighbour.begin(stop);

  if (!attempt.after.empty()) {
    auto first = std::find_if(all.begin(), all.end(),
                              [&attempt](const Attempt& a) { return a.name == attempt.after; });
    witness.before = perform(TRY(job_of(*first, cell)));
    if (!witness.before) return std::optional<Finding>();
  }
  std::optional<JobResult> result = perform(TRY(job_of(attempt, cell)));
  if (!result) return std::optional<Finding>();
  witness.result = *std::move(result);
  witness.neighbour = neighbour.end(stop);
  if (!witness.neighbour) return std::optional<Finding>();
  witness.damage = bait_.take_damage();
  if (!beside && witness.damage.empty() && witness.neighbour->verdict.ok()) {
    return Error::because("the neighbour of " + attempt.name + " ended before its input did");
  }
  return std::optional<Finding>(judge_attempt(attempt, witness));
}

}  // namespace cli
