#include "cluster/pilot/membership.h"

#include <algorithm>
#include <utility>

namespace cluster {

namespace {

constexpr double kNewest = 0.05;  // weight of the last job in the mean
// Several routers may each have sent what one may send (Placement::most_at).
constexpr size_t kMostForAWorker = 32;

int64_t worker_us(const runtime::Timing& t) {
  return t.lease + t.fork + t.confine + t.run + t.collect + t.judge;
}

}  // namespace

Membership::Membership(const service::ApiContext& context, runtime::Engine& engine, Options options)
    : context_(context), engine_(engine), options_(std::move(options)) {
  for (const Router& router : options_.routers) {
    enrolments_.push_back(std::make_unique<Enrolment>(house_for(router)));
    enrolments_.back()->start();
  }
  context_.runtimes.get([this](const service::InstalledRuntimes::List& found) {
    for (const auto& enrolment : enrolments_) enrolment->tell_runtimes(found.json);
  });
}

Enrolment::House Membership::house_for(const Router& router) {
  return {.engine = engine_,
          .loop = context_.loop,
          .deadlines = context_.deadlines,
          .held = context_.held,
          .hello = [this] { return hello(); },
          .status = [this] { return status(); },
          .dial = router.dial,
          .link = router.link,
          .has_room = [this] { return has_room(); },
          .ended = [this](const runtime::JobResult& result) { note(result); },
          .log = [&log = context_.log](const std::string& line) { log.tell(line); },
          .trouble = [&log = context_.log](const std::string& line) { log.note(line); },
          .rested = context_.rested,
          .router = router.address,
          .traced = [&log = context_.log](const service::RoutedJob& job) { log.ended(job); }};
}

Hello Membership::hello() const {
  Hello hello = options_.hello;
  const runtime::Engine::Standing standing = engine_.standing();
  hello.workers = engine_.workers();
  hello.level = static_cast<uint8_t>(standing.level);
  hello.layers = standing.layers.bits();
  return hello;
}

size_t Membership::jobs() const {
  size_t sum = context_.dispatcher.queued() + context_.dispatcher.running();
  for (const auto& enrolment : enrolments_) sum += enrolment->jobs();
  return sum;
}

bool Membership::has_room() const {
  return jobs() < std::max(1u, engine_.workers()) * kMostForAWorker;
}

Status Membership::status() const {
  return {.under_way = static_cast<uint32_t>(jobs()),
          .mean_us = static_cast<uint32_t>(std::min(mean_us_, 4e9)),
          .counts = engine_.counts()};
}

void Membership::note(const runtime::JobResult& result) {
  const auto us = static_cast<double>(worker_us(result.timing));
  if (us > 0) mean_us_ = mean_us_ > 0 ? mean_us_ + kNewest * (us - mean_us_) : us;
}

void Membership::begin_end() {
  for (const auto& enrolment : enrolments_) enrolment->drain();
}

bool Membership::is_busy() const {
  return std::ranges::any_of(enrolments_, [](const auto& each) { return each->is_busy(); });
}

}  // namespace cluster
