#pragma once
// Sessions of a service whose engine is a fake one: it runs each step when it is told to.

#include <deque>
#include <string>
#include <vector>

#include "service/apis/foreign_sessions.h"

namespace service {

// "thread" is a step whose state is not kept.
class StepEngine : public runtime::Engine {
 public:
  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override {
    jobs_.emplace_back(std::move(job), std::move(done));
    if (!paused) run_all();
  }
  void run_all() {
    for (; !jobs_.empty(); jobs_.pop_front()) jobs_.front().second(result_of(jobs_.front().first));
  }
  unsigned workers() const override { return 2; }
  void cancel_all() override {}
  void cancel_withdrawn() override {
    for (auto& [job, done] : jobs_) withdrawn += job.is_withdrawn() ? 1 : 0;
  }
  Standing standing() const override { return {}; }
  bool keeps_nodes() const override { return keeps; }
  void forget_nodes(const std::string&, const std::vector<std::string>& ids) override {
    forgotten.insert(forgotten.end(), ids.begin(), ids.end());
  }
  std::vector<std::string> why_gone(const std::string&,
                                    const std::vector<std::string>& ids) override {
    return std::vector<std::string>(ids.size(), gone);
  }

  bool paused = false, keeps = true;
  std::string gone;    // every node is, for this reason
  std::string output;  // of each step
  size_t withdrawn = 0;
  std::vector<std::string> forgotten, templates, sources;

 private:
  runtime::JobResult result_of(const runtime::Job& job) {
    templates.push_back(job.template_name);
    runtime::JobResult result;
    const bool is_first = job.session == runtime::kNewSession;
    result.verdict.outcome =
        gone.empty() || is_first ? runtime::Outcome::kOk : runtime::Outcome::kBadJob;
    if (!result.verdict.ok()) return result;
    result.verdict.by = runtime::By::kProgram;
    const std::string parent = is_first ? "" : job.session;
    sources.push_back(job.source);
    result.out.bytes = output;
    const bool is_kept = job.keep && job.source != "thread";
    result.step = runtime::StepReport{is_kept ? "n-" + std::to_string(++nodes_) : parent, parent,
                                      is_kept, is_kept ? "" : "a second thread", 4096};
    return result;
  }

  std::deque<std::pair<runtime::Job, std::function<void(runtime::JobResult)>>> jobs_;
  size_t nodes_ = 0;
};

struct SessionScene {
  StepEngine engine;
  const Tokens tokens{};
  const Tenancy tenancy{TenantBy::kToken, tokens};
  const Allowance held{size_t{64} << 20};
  const runtime::JobDefaults defaults{};
  runtime::Loop loop;
  Deadlines deadlines{loop};
  Dispatcher dispatcher{engine, loop, deadlines, held, options()};
  SessionKeeper keeper{{tenancy, engine, loop, dispatcher}, size_t{64} << 20};
  ForeignJobs jobs{dispatcher};
  ForeignSessions sessions{{keeper, tenancy, engine, dispatcher, jobs, held, defaults,
                            [](const std::string& name) { return name == "python"; }}};
  std::vector<ForeignSessions::Refusal> refusals;
  std::vector<ForeignSessions::Ran> ran;
  ForeignSessions::Begun begun;

  Dispatcher::Options options() {
    Dispatcher::Options made;
    made.tenant_of = [this](const std::string& client, const std::string& asked) {
      return tenancy.tenant_of(client, asked);
    };
    made.ended = [](const Finished&) {};
    made.room = [] {};
    return made;
  }
  static ForeignSessions::Caller caller(const std::string& client) { return {client, "test"}; }

  ForeignSessions::Ticket begin(const std::string& client, std::string_view fields = "{}") {
    return sessions.begin(caller(client), fields, [this](auto told) {
      if (auto* no = std::get_if<ForeignSessions::Refusal>(&told)) refusals.push_back(*no);
      if (auto* yes = std::get_if<ForeignSessions::Begun>(&told)) begun = *yes;
      if (waits) loop.stop();
    });
  }
  bool waits = false;
  void await(ForeignSessions::Ticket ticket) {
    waits = ticket != 0;
    if (waits) loop.run();
    waits = false;
  }
  ForeignSessions::Ticket run(const std::string& client, const std::string& source) {
    ReadStep step;
    step.job.source = source;
    step.job.template_name = "c";  // the session's counts
    return sessions.run(caller(client), begun.node, std::move(step), {}, [this](auto told) {
      if (auto* no = std::get_if<ForeignSessions::Refusal>(&told)) refusals.push_back(*no);
      if (auto* yes = std::get_if<ForeignSessions::Ran>(&told)) ran.push_back(std::move(*yes));
      if (waits) loop.stop();
    });
  }
};

}  // namespace service
