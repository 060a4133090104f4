#include "service/apis/native/sessions/session_replays.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "service/admission/refusals.h"
#include "service/sessions/session_answers.h"
#include "service/sessions/step_reader.h"

namespace service {

namespace {

constexpr size_t kMostLooks = 8;      // for who has to begin again further back
constexpr unsigned kRoomLater = 5;    // seconds
constexpr unsigned kReplayLater = 1;  // seconds

// Its session or the service ends, or the machine has no room for it.
bool is_no_fault_of_its_own(const std::string& label) {
  return label == "Cancelled" || label == "SandboxError";
}

// Of the memory for nodes, or of their number.
bool is_of_room(const std::string& why_not) { return why_not.starts_with("more "); }

std::string state_before(const SessionBook& book, const std::string& node) {
  const SessionStep* step = book.step_of(node);
  const SessionStep* parent = step ? book.step_of(step->parent) : nullptr;
  return parent ? parent->state() : "";
}

}  // namespace

struct SessionReplays::Replay {
  std::string wanted;  // the node
  std::string tenant;
  struct Waiting {
    Asker asker;
    std::function<bool()> is_wanted;
    Then then;
  };
  std::vector<Waiting> waiting;      // the first one pays
  std::vector<std::string> path;     // nodes that are to be made anew, the first one in front
  std::vector<std::string> deleted;  // those of them that go again when it is over
  size_t next = 0;                   // in it
  std::string making;                // the node whose step is being run, if any
  std::string at;                    // the engine's node that a step was run at last
  size_t ran = 0, looks = 0;

  bool is_wanted() const {
    return std::ranges::any_of(waiting, [](const Waiting& each) { return each.is_wanted(); });
  }
};

void SessionReplays::bring_back(const std::string& node, Asker asker,
                                std::function<bool()> is_wanted, Then then) {
  ReplayPtr& replay = under_way_[node];
  const bool is_first = !replay;
  if (is_first) replay = std::make_shared<Replay>();
  replay->waiting.push_back({std::move(asker), std::move(is_wanted), std::move(then)});
  if (!is_first) return;
  replay->wanted = node;
  const ReplayPtr begun = replay;
  if (const Session* session = keeper_.book().session_of(node)) begun->tenant = session->tenant;
  plan(begun);
}

// The engine may have lost more than the book knows of.
void SessionReplays::plan(const ReplayPtr& replay) {
  keeper_.refresh_path(replay->wanted, [this, replay] {
    std::vector<std::string> path = keeper_.book().missing_before(replay->wanted);
    const bool is_the_same = replay->looks > 0 && !path.empty() &&
                             replay->next < replay->path.size() &&
                             path.front() == replay->path[replay->next];
    // For another reason than a node that is gone, or was made anew meanwhile.
    const bool is_refused = is_the_same && state_before(keeper_.book(), path.front()) == replay->at;
    if (is_refused || replay->looks > kMostLooks)
      return refuse(replay, "a step of its log is refused now");
    replay->next = 0;
    replay->path = std::move(path);
    go_on(replay);
  });
}

void SessionReplays::go_on(const ReplayPtr& replay) {
  if (context_.is_ending() || !replay->is_wanted()) return finish(replay, ending());
  const SessionBook& book = keeper_.book();
  const SessionStep* step = nullptr;
  for (; replay->next < replay->path.size(); ++replay->next) {
    step = book.step_of(replay->path[replay->next]);
    if (!step) return refuse(replay, "its session has ended");
    if (!step->gone.empty()) break;  // else another has made it meanwhile
  }
  if (replay->next == replay->path.size()) return finish(replay, std::nullopt);
  const auto [making, is_ours] = in_making_.try_emplace(step->node);
  if (!is_ours) return making->second.push_back(replay);
  replay->making = step->node;
  const SessionStep* parent = step->parent.empty() ? nullptr : book.step_of(step->parent);
  if (!step->parent.empty() && !parent) return refuse(replay, "its log is not whole");
  struct Reading {
    std::string body, at;
    std::shared_ptr<const runtime::JobDefaults> defaults, under;
    sys::Result<ReadStep> step{ReadStep{}};
  };
  auto reading = std::make_shared<Reading>();
  reading->body = step->body;
  reading->at = replay->at = parent ? parent->state() : "";
  const Session& session = *book.session_of(step->node);
  reading->defaults = session.defaults;
  reading->under = session.under;
  runtime::run_aside(
      context_.loop,
      [reading, of_service = &context_.options.defaults] {
        reading->step =
            reading->at.empty()
                ? read_beginning(reading->body, reading->under ? *reading->under : *of_service)
                : read_step(reading->body, *reading->defaults, reading->at);
      },
      [this, weak = std::weak_ptr(replay), reading] {
        const ReplayPtr there = weak.lock();
        if (!there) return;
        if (!reading->step) return refuse(there, reading->step.error().text());
        submit(there, std::move(reading->step->job));
      });
}

void SessionReplays::submit(const ReplayPtr& replay, runtime::Job job) {
  const std::string& node = replay->path[replay->next];
  const Session* session = keeper_.book().session_of(node);
  if (!session) return refuse(replay, "its session has ended");
  const Asker& asker = replay->waiting.front().asker;
  job.id = new_job_id();
  job.tenant = keeper_.asked_for(asker.client, session->tenant);
  job.outputs.clear();
  job.deadline.reset();
  job.record = false;
  job.recorded.reset();
  Dispatcher::Order order;
  order.job = std::move(job);
  order.client = asker.client;
  order.share = asker.share.another();
  auto ticket = std::make_shared<Dispatcher::Ticket>(0);
  order.done = [this, replay, ticket, session = session->id](const Finished& finished) {
    keeper_.note_ended(session, *ticket);
    end_step(replay, finished);
  };
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return refuse_first(replay, busy(*full));
  *ticket = std::get<Dispatcher::Ticket>(taken);
  keeper_.note_running(session->id, *ticket);
}

void SessionReplays::end_step(const ReplayPtr& replay, const Finished& finished) {
  const std::string node = replay->path[replay->next];
  const SessionStep* step = keeper_.book().step_of(node);
  const bool was_kept = finished.step && finished.step->kept;
  const bool is_same = step && was_kept && finished.label == step->label;
  if (was_kept && !is_same) keeper_.forget(replay->tenant, finished.step->node);
  if (!step) return refuse(replay, "its session has ended");
  if (finished.label == "BadJob" && !finished.step) {  // perhaps one before it has gone meanwhile
    ++replay->looks;
    const std::vector<ReplayPtr> others = stop_making(replay);
    plan(replay);
    for (const ReplayPtr& other : others) go_on(other);
    return;
  }
  ++replay->ran;
  if (is_no_fault_of_its_own(finished.label))
    return finish(replay, busy_response(503, "replay",
                                        fmt::format("a step of the log of node \"{}\" could not be "
                                                    "run again: it ended with {}",
                                                    replay->wanted, finished.label),
                                        kReplayLater));
  if (!is_same) {
    const bool is_alike = finished.step && finished.label == step->label;
    if (is_alike && is_of_room(finished.step->why_not))
      return finish(replay, busy_response(507, "nodes_memory",
                                          "a step of the log of node \"" + replay->wanted +
                                              "\" was not kept: " + finished.step->why_not,
                                          kRoomLater));
    const std::string how = is_alike ? "was not kept: " + finished.step->why_not : finished.label;
    return refuse(replay, fmt::format("step {} of its log, run once more, ended otherwise ({})",
                                      keeper_.book().depth_of(node), how));
  }
  if (step->is_deleted) replay->deleted.push_back(node);
  keeper_.put_back(replay->tenant, node, finished);
  ++replay->next;
  const std::vector<ReplayPtr> others = stop_making(replay);
  go_on(replay);
  for (const ReplayPtr& other : others) go_on(other);
}

// One client's queue is full: the others who wait have their own.
void SessionReplays::refuse_first(const ReplayPtr& replay, const Response& why) {
  if (replay->waiting.size() == 1) return finish(replay, why);
  const Replay::Waiting first = std::move(replay->waiting.front());
  replay->waiting.erase(replay->waiting.begin());
  const std::vector<ReplayPtr> others = stop_making(replay);
  first.then(why, replay->ran);
  go_on(replay);
  for (const ReplayPtr& other : others) go_on(other);
}

std::vector<SessionReplays::ReplayPtr> SessionReplays::stop_making(const ReplayPtr& replay) {
  const auto made = in_making_.extract(std::exchange(replay->making, {}));
  return made.empty() ? std::vector<ReplayPtr>{} : std::move(made.mapped());
}

// What another replay goes on from goes with that one.
void SessionReplays::delete_again(const Replay& replay) {
  for (const std::string& node : replay.deleted) {
    const auto user = std::ranges::find_if(under_way_, [&node](const auto& each) {
      return std::ranges::find(each.second->path, node) != each.second->path.end();
    });
    if (user == under_way_.end())
      keeper_.delete_again(replay.tenant, node);
    else
      user->second->deleted.push_back(node);
  }
}

void SessionReplays::refuse(const ReplayPtr& replay, const std::string& why) {
  const SessionStep* step = keeper_.book().step_of(replay->wanted);
  const std::string gone =
      step && !step->gone.empty() ? step->gone : "node \"" + replay->wanted + "\" is gone";
  const std::vector<ReplayPtr> others = stop_making(replay);
  finish(replay, gone_response(gone + "; it cannot be made anew: " + why));
  for (const ReplayPtr& other : others) refuse(other, why);  // they need the same step
}

void SessionReplays::finish(const ReplayPtr& replay, const std::optional<Response>& refusal) {
  under_way_.erase(replay->wanted);
  delete_again(*replay);
  const std::vector<ReplayPtr> others = stop_making(replay);
  const auto waiting = std::move(replay->waiting);
  for (const auto& each : waiting) each.then(refusal, replay->ran);
  for (const ReplayPtr& other : others) go_on(other);
}

}  // namespace service
