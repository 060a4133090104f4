#include "service/apis/native/sessions/try_stream.h"

#include <utility>

#include "service/sessions/session_answers.h"

namespace service {

namespace {

Selection::Order order_of(const TryBody& body) {
  return body.score ? Selection::Order::kByScore : Selection::Order::kByIndex;
}

// Changes what a result says of its node where that is not kept however the others end.
std::function<void(runtime::JobResult&)> amendment(Keep::What keep, const std::string& parent,
                                                   const std::string& state) {
  auto rename = renaming(parent, state);
  if (keep != Keep::What::kOk) return rename;
  return [parent, rename](runtime::JobResult& result) {
    if (rename) rename(result);
    const bool is_kept = result.verdict.label() == "OK";
    if (!result.step || !result.step->kept || is_kept) return;
    *result.step = {.node = parent,
                    .parent = parent,
                    .kept = false,
                    .why_not = "the request keeps no such step",
                    .bytes = 0};
  };
}

}  // namespace

TryStream::TryStream(ExchangePtr exchange, Dispatcher& dispatcher, SessionKeeper& keeper, Plan plan,
                     size_t at_once, Over over)
    : JobStream(std::move(exchange), dispatcher, at_once, std::move(over)),
      keeper_(keeper),
      plan_(std::move(plan)),
      selection_(plan_.body.keep, order_of(plan_.body)) {}

// Scores first: a step whose score is known may free its node.
bool TryStream::take_next() {
  if (!to_score_.empty()) return submit_score();
  return next_ < plan_.body.steps.size() && submit_step();
}

bool TryStream::is_at_end() const { return to_score_.empty() && next_ == plan_.body.steps.size(); }

bool TryStream::submit_step() {
  sys::Result<ReadStep> step =
      read_step(plan_.body.steps[next_], *plan_.defaults, plan_.node);  // it was read before
  VERIFY(step.ok());
  give_seed(*step, new_seed());
  runtime::Job& job = step->job;
  if (job.id.empty()) job.id = new_job_id();
  job.session = plan_.state;
  auto share = room_for(job);
  auto held = share ? held_share(*share, step->body.size()) : nullptr;
  if (!held && is_busy()) return false;
  Branch branch;
  branch.tried.index = next_++;
  branch.making = {plan_.session, plan_.tenant, plan_.node, std::move(step->body), held, false};
  note(job.id);
  if (!held) {
    branch.finished.json = without_room(job);
    tell(std::move(branch));
    return true;
  }
  Dispatcher::Order order;
  order.share = *std::move(share);
  order.with_value = has_score();
  order.amend = amendment(plan_.body.keep.what, plan_.node, plan_.state);
  job.tenant = plan_.asked;
  job.keep = job.keep && plan_.body.keep.what != Keep::What::kNone;
  order.job = std::move(job);
  submit(std::move(order),
         [self = self<TryStream>(), branch = std::move(branch)](Finished finished) mutable {
           branch.finished = std::move(finished);
           self->end_step(std::move(branch));
         });
  return true;
}

void TryStream::end_step(Branch branch) {
  if (is_abandoned()) return forget(branch);
  branch.tried.ok = branch.finished.label == "OK";
  if (has_score() && branch.tried.ok) return to_score_.push_back(std::move(branch));
  tell(std::move(branch));
}

// A job as any other, in another process than the step's, which gave its value and nothing else.
bool TryStream::submit_score() {
  runtime::Job job = *plan_.body.score;
  job.id = new_job_id();
  job.tenant = plan_.asked;
  job.calls = one_call_with(to_score_.front().finished.value);
  auto share = room_for(job);
  if (!share && is_busy()) return false;
  Branch branch = std::move(to_score_.front());
  to_score_.pop_front();
  branch.finished.value = std::string();
  if (!share) {
    tell(std::move(branch), "too many bytes are held for this client already");
    return true;
  }
  Dispatcher::Order order;
  order.share = *std::move(share);
  order.with_value = true;
  order.job = std::move(job);
  submit(std::move(order),
         [self = self<TryStream>(), branch = std::move(branch)](const Finished& score) mutable {
           self->end_score(std::move(branch), score);
         });
  return true;
}

void TryStream::end_score(Branch branch, const Finished& score) {
  if (is_abandoned()) return forget(branch);
  if (score.label != "OK") return tell(std::move(branch), "its score ended with " + score.label);
  branch.tried.score = score_in(score.value);
  tell(std::move(branch), branch.tried.score ? "" : "its score is no number");
}

void TryStream::tell(Branch branch, std::string why_no_score) {
  Tried& tried = branch.tried;
  if (selection_.wants(tried)) {
    tried.node = keeper_.keep(std::move(branch.making), branch.finished);
  } else {
    forget(branch);
  }
  for (const std::string& node : selection_.add(tried)) {
    keeper_.take_out(plan_.tenant, node);
    if (node == tried.node) tried.node.clear();
  }
  const ScoredLine line{has_score(), std::move(why_no_score)};
  write(tried_result(tried, plan_.node, line, branch.finished.json),
        std::move(branch.finished.held));
}

// All at once, so that a service that is killed before its summary has kept none.
bool TryStream::settle() {
  if (writing_ != Writing::kNot) return writing_ == Writing::kDone;
  writing_ = Writing::kUnderWay;
  std::vector<std::string> nodes;
  for (const Tried& tried : selection_.kept()) nodes.push_back(tried.node);
  auto is_here = std::make_shared<bool>(true);
  keeper_.when_written(nodes, [self = self<TryStream>(), is_here](LedgerWriter::Made made) {
    self->writing_ = Writing::kDone;
    self->written_ = std::move(made);
    if (!*is_here) self->feed();
  });
  *is_here = false;
  return writing_ == Writing::kDone;
}

void TryStream::write(const std::string& line, std::shared_ptr<void> held) {
  exchange_->write(line + "\n", std::move(held));
}

void TryStream::write_end() {
  if (written_ && *written_) return write(summary_of(selection_, has_score()));
  exchange_->write(unwritten_response(written_).body);
}

void TryStream::lose_client() {
  for (const Branch& branch : to_score_) forget(branch);
  to_score_.clear();
  for (const Tried& tried : selection_.kept()) keeper_.take_out(plan_.tenant, tried.node);
}

// Its node, which is in no session yet.
void TryStream::forget(const Branch& branch) {
  if (branch.finished.step && branch.finished.step->kept)
    keeper_.forget(plan_.tenant, branch.finished.step->node);
}

}  // namespace service
