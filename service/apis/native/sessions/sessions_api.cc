#include "service/apis/native/sessions/sessions_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "service/admission/refusals.h"
#include "service/sessions/session_answers.h"

namespace service {

namespace {

constexpr const char* kRouter =
    "a router has no sessions; they stay with the service that began them";

Description about(Method method, std::string_view pattern, std::string_view summary,
                  std::string_view takes_schema, std::string_view gives_schema,
                  std::vector<int> statuses) {
  const bool is_post = method == Method::kPost;
  return {.method = method,
          .pattern = pattern,
          .scope = Scope::kJobs,
          .summary = summary,
          .takes = is_post ? kJson : "",
          .gives = pattern.ends_with("/try") ? kLines : kJson,
          .statuses = std::move(statuses),
          .parameters = is_post ? std::vector<Parameter>{kPatience} : std::vector<Parameter>{},
          .takes_schema = takes_schema,
          .gives_schema = gives_schema};
}

}  // namespace

SessionsApi::SessionsApi(const NativeContext& context)
    : context_(context), keeper_(context.keeper) {}

const Operations<SessionsApi>& SessionsApi::operations() {
  constexpr std::string_view kSession = "/v1/sessions/{session}";
  static const Operations<SessionsApi> all = {
      {about(Method::kPost, "/v1/sessions",
             "Begin a session. The fields, as a job has them, hold for its steps.", "Beginning",
             "SessionBegun", {200, 400, 422, 429, 507}),
       &SessionsApi::post_session},
      {about(Method::kGet, "/v1/sessions", "The sessions, the most recently used first.", "",
             "SessionList", {200, 429}),
       &SessionsApi::get_sessions},
      {about(Method::kGet, kSession, "The nodes of a session.", "", "SessionTree",
             {200, 404, 410, 429}),
       &SessionsApi::get_session},
      {about(Method::kDelete, kSession, "End a session, and free its nodes.", "", "SessionEnded",
             {200, 404, 410, 507}),
       &SessionsApi::delete_session},
      {about(Method::kPost, "/v1/nodes/{node}/run",
             "Run a step at a node. Answers with its result and where it led.", "Step",
             "StepResult", {200, 400, 404, 410, 429, 507}),
       &SessionsApi::post_run},
      {about(Method::kPost, "/v1/nodes/{node}/try",
             "Run many steps from one node. Results in order of completion, and a summary.",
             "Steps", "Tried", {200, 400, 404, 410, 429, 507}),
       &SessionsApi::post_try},
      {about(Method::kGet, "/v1/nodes/{node}/log", "The steps that lead to a node.", "", "NodeLog",
             {200, 404, 410}),
       &SessionsApi::get_log},
      {about(Method::kDelete, "/v1/nodes/{node}", "Free a node. Those behind it stay.", "",
             "NodeFreed", {200, 404, 410, 507}),
       &SessionsApi::delete_node},
  };
  return all;
}

void SessionsApi::feed() {
  const auto streams = streams_;  // one that is over takes itself out
  for (const auto& stream : streams) stream->feed();
}

bool SessionsApi::admits(const ExchangePtr& exchange,
                         std::optional<sys::Milliseconds>& patience) const {
  const Request& request = exchange->request;
  const auto refuse = [&exchange](Response response) {
    exchange->answer(std::move(response));
    return false;
  };
  if (!context_.engine.keeps_nodes()) return refuse(error_response(501, "sessions", kRouter));
  if (context_.is_ending()) return refuse(ending());
  for (const char* way : {"async", "durable"}) {
    const std::string* given = request.query_value(way);
    if (given && *given != "0")
      return refuse(error_response(400, way, std::string(way) + ": steps are answered at once"));
  }
  if (request.header("idempotency-key"))
    return refuse(error_response(400, "idempotency", "Idempotency-Key: steps have none"));
  if (auto bad = read_patience(request, patience)) return refuse(*bad);
  return true;
}

Session* SessionsApi::session_of(const ExchangePtr& exchange, const std::string& id) {
  if (!context_.engine.keeps_nodes()) {
    exchange->answer(error_response(501, "sessions", kRouter));
    return nullptr;
  }
  keeper_.end_idle();
  auto found =
      keeper_.book().find_session(id, keeper_.sees(exchange->client), sys::monotonic_now());
  if (auto* session = std::get_if<Session*>(&found)) return *session;
  exchange->answer(missing_response("session", std::get<SessionBook::Missing>(found)));
  return nullptr;
}

std::optional<SessionBook::Place> SessionsApi::place_of(const ExchangePtr& exchange,
                                                        const std::string& node, Needs needs) {
  if (!context_.engine.keeps_nodes()) {
    exchange->answer(error_response(501, "sessions", kRouter));
    return std::nullopt;
  }
  keeper_.end_idle();
  auto found = keeper_.book().find_node(node, keeper_.sees(exchange->client), sys::monotonic_now());
  if (const auto* missing = std::get_if<SessionBook::Missing>(&found)) {
    exchange->answer(missing_response("node", *missing));
    return std::nullopt;
  }
  const auto place = std::get<SessionBook::Place>(found);
  if (needs == Needs::kNode) return place;
  if (place.step->is_deleted) {  // also while it is there, as others behind it need it
    const bool is_told = !place.step->gone.empty();
    exchange->answer(gone_response(is_told ? place.step->gone : SessionKeeper::why_deleted(node)));
    return std::nullopt;
  }
  const bool can_be_had = needs == Needs::kState && place.session->is_replayable;
  if (place.step->gone.empty() || can_be_had) return place;
  exchange->answer(gone_response(place.step->gone));
  return std::nullopt;
}

void SessionsApi::post_session(const ExchangePtr& exchange, const std::string&) {
  auto arrival = std::make_shared<Arrival<ReadStep>>();
  if (!admits(exchange, arrival->patience)) return;
  keeper_.end_idle();
  context_.readers.read_body(
      exchange,
      [exchange, arrival, defaults = &context_.options.defaults] {
        arrival->body = read_beginning(exchange->request.body, *defaults);
      },
      [this, exchange, arrival] { begin(exchange, *arrival); });
}

void SessionsApi::begin(const ExchangePtr& exchange, Arrival<ReadStep>& arrival) {
  if (context_.is_ending()) return exchange->answer(ending());
  if (!arrival.body) return exchange->answer(bad_job_response(arrival.body.error().text()));
  runtime::Job& job = arrival.body->job;
  if (!context_.facts.knows_template(job.template_name))
    return exchange->answer(unknown_template(job.template_name));
  const auto tenant = context_.tenancy.tenant_of(exchange->client, job.tenant);
  if (!tenant) return exchange->answer(not_its_tenant(tenant.error()));
  give_seed(*arrival.body, new_seed());
  Making making{.session = context_.new_kept_id('s'),
                .tenant = *tenant,
                .parent = "",
                .body = std::move(arrival.body->body),
                .held = nullptr,
                .is_replayable = true};
  if (!keeper_.book().has_room(*tenant, making.session, making.body.size()))
    return exchange->answer(log_is_full());
  making.held = held_share(exchange->share, making.body.size());
  if (!making.held) return exchange->answer(held_too_much());
  const std::string session = making.session;
  auto fields = std::make_shared<runtime::Job>(defaults_behind(job).job);
  submit(exchange, session, std::move(job), arrival.patience, nullptr,
         [this, exchange, making, fields](const Finished& finished) {
           const std::string node = keeper_.begin(making, *fields, finished);
           if (finished.expired) return exchange->answer(expired());
           if (node.empty()) return exchange->answer(no_beginning(finished));
           Response begun{.body = fmt::format("{{\"session\":\"{}\",\"node\":\"{}\"}}\n",
                                              making.session, node)};
           answer_when_written(exchange, node, std::move(begun));
         });
}

void SessionsApi::answer_when_written(const ExchangePtr& exchange, const std::string& node,
                                      Response response) {
  auto kept = std::make_shared<Response>(std::move(response));
  keeper_.when_written({node}, [exchange, kept](const LedgerWriter::Made& made) {
    exchange->answer(made && *made ? std::move(*kept) : unwritten_response(made));
  });
}

// Withdraws the job when its client is gone, or its session ends.
void SessionsApi::submit(const ExchangePtr& exchange, const std::string& session, runtime::Job job,
                         std::optional<sys::Milliseconds> patience, Amend amend,
                         std::function<void(Finished)> told) {
  if (job.deadline) patience = std::min(patience.value_or(*job.deadline), *job.deadline);
  if (job.id.empty()) job.id = new_job_id();
  exchange->jobs.push_back(job.id);
  exchange->job_count = 1;
  exchange->request.body = std::string();  // the job has it now
  Dispatcher::Order order;
  order.job = std::move(job);
  order.patience = patience;
  order.amend = std::move(amend);
  order.client = exchange->client;
  order.trace = exchange->trace;
  order.share = std::exchange(exchange->share, exchange->share.another());
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Dispatcher::Ticket>(0);
  order.done = [this, session, ticket, told = std::move(told)](Finished finished) {
    keeper_.note_ended(session, *ticket);
    told(std::move(finished));
  };
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return exchange->answer(busy(*full));
  *ticket = std::get<Dispatcher::Ticket>(taken);
  keeper_.note_running(session, *ticket);
  exchange->when_gone([this, ticket] { context_.dispatcher.withdraw(*ticket); });
}

void SessionsApi::bring_back(const ExchangePtr& exchange, const std::string& node,
                             std::function<void(size_t)> then) {
  SessionReplays::Asker asker{exchange->client, exchange->share.another()};
  replays_.bring_back(
      node, std::move(asker), [exchange] { return exchange->open(); },
      [exchange, then = std::move(then)](const std::optional<Response>& refusal, size_t steps) {
        if (!exchange->open()) return;
        refusal ? exchange->answer(Response(*refusal)) : then(steps);
      });
}

void SessionsApi::post_run(const ExchangePtr& exchange, const std::string& node) {
  auto arrival = std::make_shared<Arrival<ReadStep>>();
  if (!admits(exchange, arrival->patience)) return;
  const auto place = place_of(exchange, node, Needs::kState);
  if (place) read_and_run(exchange, arrival, *place, 0);
}

void SessionsApi::read_and_run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
                               const SessionBook::Place& place, size_t replayed) {
  const std::string node = place.step->node;
  context_.readers.read_body(
      exchange,
      [exchange, arrival, node, defaults = place.session->defaults] {
        arrival->body = read_step(exchange->request.body, *defaults, node);
      },
      [this, exchange, arrival, node, replayed] { run(exchange, arrival, node, replayed); });
}

void SessionsApi::run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
                      const std::string& node, size_t replayed) {
  if (context_.is_ending()) return exchange->answer(ending());
  if (!arrival->body) return exchange->answer(bad_job_response(arrival->body.error().text()));
  const auto place = place_of(exchange, node, Needs::kState);  // meanwhile it may have gone
  if (!place) return;
  if (!place->step->gone.empty())
    return bring_back(exchange, node, [this, exchange, arrival, node](size_t steps) {
      run(exchange, arrival, node, steps);
    });
  const Session& session = *place->session;
  give_seed(*arrival->body, new_seed());
  Making making{.session = session.id,
                .tenant = session.tenant,
                .parent = node,
                .body = std::move(arrival->body->body),
                .held = nullptr};
  if (!keeper_.book().has_room(session.tenant, session.id, making.body.size()))
    return exchange->answer(log_is_full());
  making.held = held_share(exchange->share, making.body.size());
  if (!making.held) return exchange->answer(held_too_much());
  runtime::Job& job = arrival->body->job;
  job.tenant = keeper_.asked_for(exchange->client, session.tenant);
  const std::string state = place->step->state();
  job.session = state;
  if (replayed > 0 && arrival->patience) {
    *arrival->patience -=
        std::chrono::duration_cast<sys::Milliseconds>(sys::monotonic_now() - arrival->came);
    if (arrival->patience->count() <= 0) return exchange->answer(expired());
  }
  submit(exchange, session.id, std::move(job), arrival->patience, renaming(node, state),
         [this, exchange, arrival, begun = Begun{making, state, replayed}](Finished finished) {
           end_run(exchange, arrival, begun, std::move(finished));
         });
}

void SessionsApi::end_run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
                          Begun begun, Finished finished) {
  if (finished.expired) return exchange->answer(expired());
  const std::string parent = begun.making.parent;
  const bool is_refused = finished.label == "BadJob" && !finished.step;
  const bool was_kept = finished.step && finished.step->kept;
  std::string node = is_refused ? parent : keeper_.keep(std::move(begun.making), finished);
  const bool is_new = !is_refused && !node.empty();
  if (node.empty() && !was_kept) node = parent;
  Response response{.body = step_result(node, parent, begun.replayed, finished.json) + "\n",
                    .held = std::move(finished.held)};
  if (is_new) return answer_when_written(exchange, node, std::move(response));
  if (!is_refused) return exchange->answer(std::move(response));
  run_again(exchange, arrival, std::move(begun), std::move(response));
}

// Where its node was not there any more, or has been made anew meanwhile.
void SessionsApi::run_again(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
                            Begun begun, Response response) {
  constexpr unsigned kMostRounds = 4;
  const std::string tenant = begun.making.tenant, parent = begun.making.parent;
  auto kept = std::make_shared<std::pair<Begun, Response>>(std::move(begun), std::move(response));
  keeper_.ask(tenant, parent, [this, exchange, arrival, kept](const std::string& why) {
    auto& [step_begun, refusal] = *kept;
    const std::string node = step_begun.making.parent;
    const SessionStep* step = keeper_.book().step_of(node);
    const bool is_another = step && step->state() != step_begun.state;
    if (!exchange->open() || (why.empty() && !is_another))
      return exchange->answer(std::move(refusal));
    if (++arrival->rounds > kMostRounds) return exchange->answer(gone_response(why));
    const auto place = place_of(exchange, node, Needs::kState);
    if (!place) return;
    exchange->request.body = std::move(step_begun.making.body);
    read_and_run(exchange, arrival, *place, step_begun.replayed);
  });
}

void SessionsApi::post_try(const ExchangePtr& exchange, const std::string& node) {
  auto arrival = std::make_shared<Arrival<TryBody>>();
  if (!admits(exchange, arrival->patience)) return;
  const auto place = place_of(exchange, node, Needs::kState);
  if (!place) return;
  context_.readers.read_body(
      exchange,
      [exchange, arrival, node, defaults = place->session->defaults,
       of_service = &context_.options.defaults] {
        arrival->body = read_try(exchange->request.body, *defaults, *of_service, node);
      },
      [this, exchange, arrival, node] { try_all(exchange, arrival, node); });
}

// Its steps are on their way before one of them could tell that the node is not there.
void SessionsApi::try_all(const ExchangePtr& exchange, const ArrivalPtr<TryBody>& arrival,
                          const std::string& node) {
  if (context_.is_ending()) return exchange->answer(ending());
  if (!arrival->body) return exchange->answer(bad_job_response(arrival->body.error().text()));
  const auto& score = arrival->body->score;
  if (score && !context_.facts.knows_template(score->template_name))
    return exchange->answer(bad_job_response("score.template: \"" + score->template_name +
                                             "\" is not known; GET /v1/templates has them"));
  const auto begun = place_of(exchange, node, Needs::kState);  // meanwhile it may have gone
  if (!begun) return;
  keeper_.ask(begun->session->tenant, node, [this, exchange, arrival, node](const std::string&) {
    const auto place = exchange->open() ? place_of(exchange, node, Needs::kState) : std::nullopt;
    if (!place) return;
    if (place->step->gone.empty()) return start_try(exchange, arrival, *place);
    bring_back(exchange, node, [this, exchange, arrival, node](size_t) {
      const auto there = place_of(exchange, node, Needs::kThere);
      if (there) start_try(exchange, arrival, *there);
    });
  });
}

void SessionsApi::start_try(const ExchangePtr& exchange, const ArrivalPtr<TryBody>& arrival,
                            const SessionBook::Place& place) {
  if (context_.is_ending()) return exchange->answer(ending());
  const Session& session = *place.session;
  if (!keeper_.book().has_room(session.tenant, session.id, 0))
    return exchange->answer(log_is_full());
  if (auto full = context_.dispatcher.refusal(exchange->client, arrival->patience))
    return exchange->answer(busy(*full));
  exchange->request.body = std::string();  // the steps are copied
  TryStream::Plan plan{session.id,
                       session.tenant,
                       place.step->node,
                       place.step->state(),
                       keeper_.asked_for(exchange->client, session.tenant),
                       session.defaults,
                       std::move(arrival->body).value()};
  auto over = [this](const std::shared_ptr<JobStream>& stream) { streams_.erase(stream); };
  auto stream = std::make_shared<TryStream>(exchange, context_.dispatcher, keeper_, std::move(plan),
                                            context_.jobs_of_stream(), std::move(over));
  streams_.insert(stream);
  stream->start();
}

void SessionsApi::get_log(const ExchangePtr& exchange, const std::string& node) {
  const auto place = place_of(exchange, node, Needs::kNode);
  if (!place) return;
  Response response{.body = log_json(place->session->id, keeper_.book().path_to(*place)) + "\n"};
  response.held = held_share(exchange->share, response.body.size());
  exchange->answer(response.held ? std::move(response) : held_too_much());
}

void SessionsApi::get_sessions(const ExchangePtr& exchange, const std::string&) {
  constexpr size_t kMostListed = 1000;
  if (!context_.engine.keeps_nodes())
    return exchange->answer(error_response(501, "sessions", kRouter));
  keeper_.end_idle();
  const auto listing = keeper_.book().list(keeper_.sees(exchange->client), kMostListed);
  Response response{.body = list_json(listing) + "\n"};
  response.held = held_share(exchange->share, response.body.size());
  exchange->answer(response.held ? std::move(response) : held_too_much());
}

void SessionsApi::get_session(const ExchangePtr& exchange, const std::string& id) {
  const Session* session = session_of(exchange, id);
  if (!session) return;
  keeper_.refresh(*session, [this, exchange, id] {
    const Session* now = exchange->open() ? session_of(exchange, id) : nullptr;
    if (!now) return;
    Response response{.body = tree_json(*now) + "\n"};
    response.held = held_share(exchange->share, response.body.size());
    exchange->answer(response.held ? std::move(response) : held_too_much());
  });
}

namespace {

SessionKeeper::Written answering(const ExchangePtr& exchange, std::string body) {
  return [exchange, body = std::move(body)](const LedgerWriter::Made& made) {
    exchange->answer(made ? Response{.body = body} : unwritten_response(made));
  };
}

}  // namespace

void SessionsApi::delete_session(const ExchangePtr& exchange, const std::string& id) {
  if (!session_of(exchange, id)) return;
  keeper_.end(id, answering(exchange, fmt::format("{{\"session\":\"{}\",\"ended\":true}}\n", id)));
  const auto streams = streams_;
  for (const auto& stream : streams) {
    if (static_cast<const TryStream&>(*stream).session() == id) stream->withdraw_all();
  }
}

void SessionsApi::delete_node(const ExchangePtr& exchange, const std::string& node) {
  const auto place = place_of(exchange, node, Needs::kState);
  if (!place) return;
  keeper_.delete_node(
      *place, answering(exchange, fmt::format("{{\"node\":\"{}\",\"freed\":true}}\n", node)));
}

}  // namespace service
