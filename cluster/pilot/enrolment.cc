#include "cluster/pilot/enrolment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/builds/artefact.h"
#include "runtime/json/job/job_check.h"
#include "runtime/judging/refused.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/random.h"

namespace cluster {

using runtime::Job;
using runtime::JobResult;
using runtime::WireReader;
using runtime::WireWriter;
using sys::Milliseconds;

namespace {

constexpr Milliseconds kFirstPause{100}, kLongestPause{5'000};
constexpr Milliseconds kWelcome{10'000};  // within which a router must have said that we are in
constexpr int kBeatsInLease = 4;
// A router hears soon after it that a job has begun; a short one has ended by then.
constexpr Milliseconds kLook{5};

sys::Result<std::shared_ptr<const runtime::Artefact>> program_of(const std::string& bytes) {
  auto artefact = std::make_shared<runtime::Artefact>();
  artefact->program = TRY(sys::sealed_memfd("zygo-program", bytes));
  artefact->bytes = bytes.size();
  return std::shared_ptr<const runtime::Artefact>(std::move(artefact));
}

}  // namespace

Enrolment::Enrolment(House house)
    : house_(std::move(house)),
      soon_(house_.loop, [this] { flush(); }),
      again_(house_.loop, [this] { dial(); }),
      begun_look_(house_.loop, [this] { look_who_began(); }),
      random_(sys::random_number()) {}

Enrolment::~Enrolment() {
  *alive_ = false;
  house_.deadlines.forget(beat_);
  drop_jobs();
}

void Enrolment::start() { dial(); }

struct Enrolment::Dialed {
  sys::Result<sys::OwnedFd> socket = sys::Error::because("it was not dialed");
};

void Enrolment::dial() {
  if (draining_ || std::exchange(dialing_, true)) return;
  auto dialed = std::make_shared<Dialed>();
  runtime::run_aside(
      house_.loop, [dialed, dial = house_.dial] { dialed->socket = dial(); },
      [this, dialed, alive = alive_] {
        if (!*alive) return;
        dialing_ = false;
        if (draining_) return house_.rested();
        if (dialed->socket) return meet(std::move(dialed->socket).value());
        house_.trouble(fmt::format("{}: {}", house_.router, dialed->socket.error().text()));
        try_again();
      });
}

void Enrolment::meet(sys::OwnedFd socket) {
  auto link = house_.link(std::move(socket), *this);
  if (!link) {
    house_.trouble(fmt::format("{}: {}", house_.router, link.error().text()));
    return try_again();
  }
  link_ = std::move(link).value();
  ++connection_;
  heard_ = sys::monotonic_now();
  beat();
}

// Routers that start again meet their pilots one after another.
void Enrolment::try_again() {
  if (draining_) return house_.rested();
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  std::uniform_int_distribution<int64_t> any(pause_.count() / 2, pause_.count());
  again_.start(Milliseconds(any(random_)));
}

void Enrolment::on_open() {
  WireWriter out = message(Kind::kHello);
  out(house_.hello());
  send(out);
}

void Enrolment::send(const WireWriter& message) {
  if (!link_) return;
  waiting_.add(message.bytes());
  soon_.start();
}

void Enrolment::flush() {
  if (link_ && !waiting_.empty()) link_->send(waiting_.take());
}

void Enrolment::on_message(std::string bytes) {
  heard_ = sys::monotonic_now();
  FrameReader frames(bytes);
  const uint64_t connection = connection_;
  while (const auto frame = frames.next()) {
    if (!link_ || connection != connection_) return;
    if (!handle(*frame)) return link_->close(service::kClosePolicy, "no message of a router");
  }
  if (!frames.ok() && link_) link_->close(service::kClosePolicy, "no message of a router");
}

bool Enrolment::handle(std::string_view frame) {
  WireReader in(frame);
  Kind kind{};
  uint64_t number = 0;
  in(kind, number);
  if (!in.ok()) return false;
  if (!joined_) return kind == Kind::kWelcome && welcome(in);
  switch (kind) {
    case Kind::kAlive:
      return in.at_end();
    case Kind::kStart:
    case Kind::kStartPair:
      return start_jobs(kind, in);
    case Kind::kWithdraw:
      withdraw(number);
      return in.at_end();
    case Kind::kSignal: {
      int32_t signal = 0;
      in(signal);
      const auto job = jobs_.find(number);
      if (!in.at_end() || job == jobs_.end() || !job->second.live) return in.at_end();
      job->second.live->signal(signal);
      house_.engine.pass_signals();
      return true;
    }
    case Kind::kInput: {
      std::string bytes;
      bool is_last = false;
      in(bytes, is_last);
      const auto job = jobs_.find(number);
      if (!in.at_end() || job == jobs_.end() || !job->second.live) return in.at_end();
      return job->second.live->put(bytes, is_last);
    }
    default:
      return false;
  }
}

bool Enrolment::welcome(WireReader& in) {
  Welcome said;
  in(said);
  const bool known = said.version >= kOldestVersion && said.version <= kNewestVersion;
  if (!in.ok() || said.magic != kMagic || !known || said.lease_ms == 0 || !is_name(said.router))
    return false;
  joined_ = true;
  version_ = said.version;
  pause_ = {};
  lease_ = Milliseconds(said.lease_ms);
  house_.log(fmt::format("{}: joined router {}", house_.router, said.router));
  if (!runtimes_.empty()) tell_runtimes(runtimes_);
  beat();
  return true;
}

void Enrolment::tell_runtimes(const std::string& json) {
  runtimes_ = json;
  if (!joined_) return;
  WireWriter out = message(Kind::kRuntimes);
  out(json);
  send(out);
}

bool Enrolment::read_start(WireReader& in, StartHead& head, Job& job) {
  in(head);
  if (!runtime::read_job(in, job)) return false;
  const bool has_trace = (head.flags & StartHead::kTrace) != 0;
  if (head.flags > StartHead::kAll || (has_trace && version_ < kTraceVersion)) return false;
  if (jobs_.contains(head.number)) return false;
  if (head.flags & StartHead::kProgram) {
    std::string bytes;
    in(bytes);
    if (!in.ok()) return false;
    // Without it the engine says that there is no program.
    if (auto program = program_of(bytes)) job.program = std::move(program).value();
  }
  if (has_trace) in(job.watch->trace);
  return in.ok();
}

bool Enrolment::start_jobs(Kind kind, WireReader& in) {
  const size_t count = kind == Kind::kStartPair ? 2 : 1;
  bool one_way = false;
  if (count == 2) in(one_way);
  std::vector<std::pair<StartHead, Job>> jobs(count);
  for (auto& [head, job] : jobs) {
    if (!read_start(in, head, job)) return false;
  }
  if (!in.at_end()) return false;
  if (draining_ || !house_.has_room()) {
    for (const auto& [head, job] : jobs) send(message(Kind::kReturned, head.number));
    return true;
  }
  run(std::move(jobs), one_way);
  return true;
}

// Why it cannot run; empty: it can.
std::string Enrolment::attach(const StartHead& head, Job& job) {
  if (std::string why = runtime::objection_to(job); !why.empty()) return why;
  job.watch->held =
      std::make_shared<service::JobHolding>(service::Allowance::Share(house_.held, house_.router));
  LocalJob& local = jobs_[head.number];
  local.watch = job.watch;
  if (!job.watch->trace.empty()) local.trace = service::read_trace_parent(job.watch->trace);
  local.since = sys::monotonic_now();
  if (!(head.flags & StartHead::kLive)) return {};
  const uint64_t number = head.number;
  auto live =
      LocalLive::create(house_.loop, {.news =
                                          [this, number](const runtime::LiveIo::News& news) {
                                            WireWriter out = message(Kind::kNews, number);
                                            out(news.stage, news.out, news.err);
                                            send(out);
                                          },
                                      .taken =
                                          [this, number](uint64_t bytes) {
                                            WireWriter out = message(Kind::kTaken, number);
                                            out(bytes);
                                            send(out);
                                          }});
  if (!live) return live.error().text();
  local.live = std::move(live).value();
  job.live = local.live->io();
  return {};
}

void Enrolment::run(std::vector<std::pair<StartHead, Job>> jobs, bool one_way) {
  std::string why;
  for (auto& [head, job] : jobs) {
    if (std::string wrong = attach(head, job); why.empty()) why = std::move(wrong);
  }
  const bool is_pair = jobs.size() == 2;
  if (is_pair && why.empty()) {
    auto pair = one_way ? runtime::InteractivePair::one_way() : runtime::InteractivePair::create();
    if (pair) {
      for (auto& [head, job] : jobs) job.pairing = *pair;
    } else {
      why = pair.error().text();
    }
  }
  if (!why.empty()) {
    for (auto& [head, job] : jobs) {
      jobs_.try_emplace(head.number).first->second.watch = job.watch;
      end(head.number, runtime::refused(job, why));
    }
    return;
  }
  std::vector<std::function<void(JobResult)>> done;
  for (auto& [head, job] : jobs) done.push_back(done_of(head.number));
  if (is_pair) {
    house_.engine.submit_pair(std::move(jobs[0].second), std::move(done[0]),
                              std::move(jobs[1].second), std::move(done[1]));
  } else {
    house_.engine.submit(std::move(jobs[0].second), std::move(done[0]));
  }
  begun_look_.start(kLook);
}

// The result of a job whose router is gone, or is another connection by now, is nobody's.
std::function<void(JobResult)> Enrolment::done_of(uint64_t number) {
  return [this, number, connection = connection_, alive = alive_](JobResult result) {
    if (!*alive) return;
    house_.ended(result);
    if (connection == connection_) end(number, result);
    rest();
  };
}

void Enrolment::end(uint64_t number, const JobResult& result) {
  auto ended = jobs_.extract(number);
  if (!ended) return;
  LocalJob& job = ended.mapped();
  if (job.live) job.live->tell_news();
  // Nobody has asked for that but us, who end: it can begin elsewhere.
  const bool given_back = result.verdict.outcome == runtime::Outcome::kCancelled && !job.withdrawn;
  if (given_back) return send(message(Kind::kReturned, number));
  if (job.trace) tell_trace(job, result);
  WireWriter out = message(Kind::kResult, number);
  out.reserve(runtime::bytes_made(result) + (size_t{1} << 10));
  out(job.watch->has_started());
  runtime::write_result(result, out);
  send(out);
}

void Enrolment::tell_trace(const LocalJob& job, const JobResult& result) const {
  const auto took = std::chrono::duration_cast<sys::Microseconds>(sys::monotonic_now() - job.since);
  house_.traced({.router = house_.router,
                 .id = result.id,
                 .label = result.verdict.label(),
                 .us = took.count(),
                 .trace = *job.trace});
}

void Enrolment::look_who_began() {
  std::vector<uint64_t> begun;
  bool more = false;
  for (auto& [number, job] : jobs_) {
    if (job.told_begun) continue;
    if (!job.watch->has_started()) {
      more = true;
      continue;
    }
    job.told_begun = true;
    begun.push_back(number);
  }
  if (!begun.empty()) {
    WireWriter out = message(Kind::kBegan);
    out(begun);
    send(out);
  }
  if (more) begun_look_.start(kLook);
}

void Enrolment::withdraw(uint64_t number) {
  const auto job = jobs_.find(number);
  if (job == jobs_.end()) return;
  job->second.withdrawn = job->second.watch->withdrawn = true;
  house_.engine.cancel_withdrawn();
}

// One that begins at this very moment is ended, and begins elsewhere once more.
void Enrolment::return_unbegun() {
  for (auto& [number, job] : jobs_) {
    if (job.watch->has_started()) continue;
    job.watch->withdrawn = true;
  }
  house_.engine.cancel_withdrawn();
}

void Enrolment::drain() {
  draining_ = true;
  again_.stop();
  if (joined_) send(message(Kind::kDraining));
  return_unbegun();
  rest();
}

// Leaves when there is nothing left to say.
void Enrolment::rest() {
  if (!draining_) return;
  flush();
  if (is_busy()) return;
  if (link_) return link_->close(service::kCloseGoingAway, "the pilot ends");
  house_.rested();
}

void Enrolment::beat() {
  house_.deadlines.forget(std::exchange(beat_, 0));
  if (!link_) return;
  const sys::Nanoseconds now = sys::monotonic_now();
  const Milliseconds patience = joined_ ? lease_ : kWelcome;
  if (now - heard_ > patience) {
    house_.trouble(fmt::format("{}: the router is silent", house_.router));
    return link_->close(service::kClosePolicy, "the router is silent");
  }
  if (joined_) {
    WireWriter out = message(Kind::kStatus);
    out(house_.status());
    send(out);
  }
  beat_ = house_.deadlines.at(now + patience / kBeatsInLease, [this] {
    beat_ = 0;
    beat();
  });
}

void Enrolment::on_over(const std::string& why) {
  house_.deadlines.forget(std::exchange(beat_, 0));
  soon_.stop();
  waiting_.take();
  joined_ = false;
  ++connection_;
  link_.reset();
  drop_jobs();
  if (!draining_) house_.trouble(fmt::format("{}: {}", house_.router, why));
  try_again();
}

// Their router starts them elsewhere.
void Enrolment::drop_jobs() {
  for (auto& [number, job] : jobs_) job.watch->withdrawn = true;
  jobs_.clear();
  house_.engine.cancel_withdrawn();
}

}  // namespace cluster
