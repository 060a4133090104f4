#include "service/apis/go_judge/api.h"

#include <mutex>
#include <nlohmann/json.hpp>

#include "runtime/host/host_pressure.h"
#include "runtime/json/result/result_json.h"
#include "runtime/judging/judge.h"
#include "runtime/values/json_text.h"
#include "service/apis/go_judge/stream.h"
#include "service/apis/multipart.h"
#include "service/http/handshake.h"

namespace service {

using go_judge::text_response;

namespace {

// The commands of one request on their way through the engine, on its threads.
class Group : public std::enable_shared_from_this<Group> {
 public:
  Group(go_judge::Request request, go_judge::Keep keep, std::shared_ptr<Response> answer,
        Dispatcher::Told told)
      : request_(std::move(request)),
        keep_(std::move(keep)),
        answer_(std::move(answer)),
        told_(std::move(told)),
        texts_(request_.commands.size()),
        open_(request_.commands.size()) {}

  void start(runtime::Engine& engine, const std::string& tenant,
             const std::shared_ptr<runtime::JobWatch>& watch) {
    if (watch->held) held_ = std::make_shared<runtime::HeldBytes>(watch->held);
    for (go_judge::Command& command : request_.commands) {
      command.job.tenant = tenant;
      command.job.watch = watch;
      if (auto problem = make_program(command)) return fail_all(shim::Step::kProgram, *problem);
    }
    if (request_.pipes != go_judge::Request::Pipes::kNone) return start_pair(engine);
    for (size_t i = 0; i < request_.commands.size(); ++i)
      engine.submit(std::move(request_.commands[i].job), done_of(i));
  }

 private:
  void start_pair(runtime::Engine& engine) {
    const size_t first = request_.first, second = 1 - first;
    auto pairing = request_.pipes == go_judge::Request::Pipes::kCrossed
                       ? runtime::InteractivePair::create()
                       : runtime::InteractivePair::one_way();
    if (!pairing) return fail_all(shim::Step::kPair, pairing.error());
    runtime::Job &writer = request_.commands[first].job, &reader = request_.commands[second].job;
    writer.pairing = reader.pairing = *pairing;
    reader.side = runtime::InteractivePair::Side::kInteractor;
    engine.submit_pair(std::move(writer), done_of(first), std::move(reader), done_of(second));
  }

  static std::optional<sys::Error> make_program(go_judge::Command& command) {
    if (!command.program) return std::nullopt;
    go_judge::Executable made = std::exchange(command.program, nullptr)();
    if (!made) return made.error();
    command.job.program = *std::move(made);
    return std::nullopt;
  }

  void fail_all(shim::Step step, const sys::Error& error) {
    for (size_t i = 0; i < request_.commands.size(); ++i) {
      runtime::JobResult result;
      runtime::Evidence seen;
      seen.fault = runtime::Evidence::Fault{step, error.code(), error.text()};
      result.verdict = runtime::judge(seen, {});
      end(i, std::move(result));
    }
  }

  std::function<void(runtime::JobResult)> done_of(size_t index) {
    return [self = shared_from_this(), index](runtime::JobResult result) {
      self->end(index, std::move(result));
    };
  }

  // Its text, and once more behind those of the others.
  bool may_hold(const runtime::JobResult& result) {
    std::lock_guard lock(mutex_);
    return !held_ || held_->grow(2 * runtime::most_bytes_of(result));
  }

  void end(size_t index, runtime::JobResult result) {
    if (!may_hold(result)) {
      result = {};
      runtime::Evidence seen;
      seen.fault = runtime::held_too_much();
      result.verdict = runtime::judge(seen, {});
    }
    std::string text = go_judge::result_text(request_.commands[index], result, keep_);
    Finished finished;
    {
      std::lock_guard lock(mutex_);
      texts_[index] = std::move(text);
      if (index == 0) {
        first_label_ = result.verdict.label();
        first_timing_ = result.timing;
      }
      if (--open_ > 0) return;
    }
    std::string& body = answer_->body = "[";
    for (const std::string& one : texts_) body += (&one == &texts_.front() ? "" : ",") + one;
    body += "]\n";
    answer_->held = held_;
    finished.label = first_label_;
    finished.template_name = runtime::kCommandTemplate;
    finished.timing = first_timing_;
    told_(std::move(finished));
  }

  go_judge::Request request_;
  const go_judge::Keep keep_;
  const std::shared_ptr<Response> answer_;
  const Dispatcher::Told told_;
  std::mutex mutex_;
  std::shared_ptr<runtime::HeldBytes> held_;
  std::vector<std::string> texts_;
  size_t open_;
  std::string first_label_;
  runtime::Timing first_timing_;
};

// The way of a request through the engine. Its answer is there when the end is told.
Dispatcher::Run run_of(go_judge::Request request, go_judge::Keep keep,
                       std::shared_ptr<Response> answer) {
  auto held = std::make_shared<go_judge::Request>(std::move(request));
  return [held, keep = std::move(keep), answer = std::move(answer)](
             runtime::Engine& engine, const std::string& tenant,
             const std::shared_ptr<runtime::JobWatch>& watch, Dispatcher::Told told) {
    auto group = std::make_shared<Group>(std::move(*held), keep, answer, std::move(told));
    group->start(engine, tenant, watch);
  };
}

}  // namespace

GoJudgeApi::GoJudgeApi(const ApiContext& context, Options options)
    : context_(context),
      local_(std::move(options.local)),
      store_(std::make_shared<FileStore>(options.store)) {}

Routes GoJudgeApi::routes() {
  const auto answer = [](auto respond) {
    return [respond](const ExchangePtr& exchange, const std::string& id) {
      exchange->answer(respond(*exchange, id));
    };
  };
  return {
      {Method::kPost, "/run", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { run(exchange); }},
      {Method::kGet, "/ws", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { open_socket(exchange); }},
      {Method::kGet, "/stream", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { open_stream(exchange); }},
      {Method::kGet, "/file", Scope::kBlobs,
       answer([this](const Exchange& exchange, auto&) { return list_files(owner_of(exchange)); })},
      {Method::kPost, "/file", Scope::kBlobs,
       [this](const ExchangePtr& exchange, const std::string&) { add_file(exchange); }},
      {Method::kGet, "/file/{id}", Scope::kBlobs,
       answer([this](const Exchange& exchange, const std::string& id) {
         return file(exchange, owner_of(exchange), id);
       })},
      {Method::kDelete, "/file/{id}", Scope::kBlobs,
       answer([this](const Exchange& exchange, const std::string& id) {
         return store_->remove(owner_of(exchange), id)
                    ? Response{}
                    : text_response(404, "there is no such file");
       })},
      {Method::kGet, "/version", Scope::kOpen, answer([this](const Exchange&, auto&) {
         return go_judge::version_response(context_.version);
       })},
      {Method::kGet, "/config", Scope::kOpen, answer([this](const Exchange&, auto&) {
         return go_judge::config_response(context_.layers);
       })},
  };
}

bool GoJudgeApi::is_refused(const ExchangePtr& exchange) const {
  if (!context_.jobs.is_ending()) return false;
  exchange->answer(text_response(500, "worker is shutting down"));
  return true;
}

// Holders of tokens do not see each other's files; without tokens there is nobody to tell apart.
std::string GoJudgeApi::owner_of(const Exchange& exchange) const {
  return context_.knows_clients ? exchange.client : "";
}

go_judge::Places GoJudgeApi::places_for(const std::string& owner) const {
  go_judge::Places places;
  places.stored = [store = store_, owner](const std::string& id) {
    return store->find(owner, id, sys::monotonic_now());
  };
  places.executable = [store = store_, owner](const std::string& id) {
    return store->executable(owner, id, sys::monotonic_now());
  };
  if (local_) {
    places.local = [local = local_](const std::string& path, uint64_t most) {
      return local->read(path, most);
    };
  }
  places.most = context_.most_held;
  return places;
}

go_judge::Keep GoJudgeApi::keep_for(const std::string& owner) const {
  return [store = store_, owner](const std::string& name, std::string content) {
    return store->add({owner, name, std::move(content)}, sys::monotonic_now());
  };
}

// Reading may copy a lot, and wait for disks.
void GoJudgeApi::run(const ExchangePtr& exchange) {
  if (is_refused(exchange)) return;
  auto read = std::make_shared<std::optional<Read>>();
  auto work = [exchange, read, places = places_for(owner_of(*exchange)),
               defaults = &context_.defaults] {
    read->emplace(go_judge::read_run(exchange->request.body, places, *defaults));
  };
  runtime::run_aside(context_.loop, work, [self = std::weak_ptr(self_), exchange, read] {
    const std::shared_ptr<GoJudgeApi*> here = self.lock();
    if (!here) return;  // the service has ended meanwhile
    if (auto* refused = std::get_if<Response>(&**read))
      return exchange->answer(std::move(*refused));
    (*here)->submit(exchange, std::get<go_judge::Request>(std::move(**read)));
  });
}

void GoJudgeApi::submit(const ExchangePtr& exchange, go_judge::Request request) {
  exchange->request.body = std::string();  // the jobs have it now
  exchange->job_count = request.commands.size();
  Errand errand{.client = exchange->client,
                .owner = owner_of(*exchange),
                .trace = exchange->trace,
                .share = std::move(exchange->share),
                .cancelled = "cancelled before execute",
                .ended = [exchange](Response answer) { exchange->answer(std::move(answer)); }};
  const auto ticket = submit(std::move(request), std::move(errand));
  if (ticket)
    exchange->when_gone([this, ticket = *ticket] { context_.dispatcher.withdraw(ticket); });
}

std::optional<Dispatcher::Ticket> GoJudgeApi::submit(go_judge::Request request, Errand errand) {
  if (!errand.share.resize(request.bytes)) {
    errand.ended(text_response(500, "too many bytes are held already"));
    return std::nullopt;
  }
  Dispatcher::Order order;
  order.client = errand.client;
  order.api = kName;
  order.trace = errand.trace;
  order.job.template_name = runtime::kCommandTemplate;
  order.job.priority = context_.defaults.job.priority;
  order.share = std::move(errand.share);
  auto answer = std::make_shared<Response>();
  order.run = run_of(std::move(request), keep_for(errand.owner), answer);
  order.done = [ended = errand.ended, cancelled = errand.cancelled, answer](const Finished&) {
    ended(answer->body.empty() ? text_response(500, cancelled) : std::move(*answer));
  };
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) {
    Response busy = text_response(500, "worker queue is full");
    busy.headers.emplace_back("Retry-After", std::to_string(full->retry_after));
    errand.ended(std::move(busy));
    return std::nullopt;
  }
  return std::get<Dispatcher::Ticket>(taken);
}

void GoJudgeApi::open_socket(const ExchangePtr& exchange) {
  if (is_refused(exchange)) return;
  // A client that has shown a token is no page that a browser lets loose on this host.
  if (exchange->peer.is_unix && !context_.guard.is_welcome(exchange->request))
    return exchange->answer(error_response(403, "origin", "web pages may not speak to this"));
  auto headers = shake_hands(exchange->request);
  if (auto* refused = std::get_if<Response>(&headers)) return exchange->answer(std::move(*refused));
  const std::string owner = owner_of(*exchange);
  GoJudgeSocket::House house{
      .dispatcher = context_.dispatcher,
      .loop = context_.loop,
      .deadlines = context_.deadlines,
      .held = context_.held,
      .owner = owner,
      .read = [places = places_for(owner), defaults = &context_.defaults](
                  std::string_view text) { return go_judge::read_run(text, places, *defaults); },
      .submit = [this](go_judge::Request request,
                       Errand errand) { return submit(std::move(request), std::move(errand)); },
      .over = [this](const std::shared_ptr<GoJudgeSocket>& socket) { sockets_.erase(socket); }};
  WebSocket::Limits limits = context_.websocket;
  limits.message = limits.first_message;  // each is a request as large as any body
  auto socket = std::make_shared<GoJudgeSocket>(exchange, std::move(house), limits);
  sockets_.insert(socket);
  socket->open(std::get<Headers>(headers));
}

void GoJudgeApi::open_stream(const ExchangePtr& exchange) {
  if (is_refused(exchange)) return;
  const std::string owner = owner_of(*exchange);
  go_judge::StreamProtocol::House house{
      .read =
          [places = places_for(owner), defaults = &context_.defaults](std::string_view text) {
            return go_judge::read_run(text, places, *defaults, go_judge::Streams::kOffered);
          },
      .run =
          [keep = keep_for(owner)](go_judge::Request request, std::shared_ptr<Response> answer) {
            return run_of(std::move(request), keep, std::move(answer));
          },
      .patience = context_.head_time};
  context_.sessions.open(exchange, std::make_unique<go_judge::StreamProtocol>(std::move(house)), "",
                         std::nullopt);
}

void GoJudgeApi::begin_end() {
  const auto sockets = sockets_;  // one that is over takes itself out
  for (const auto& socket : sockets) socket->end();
}

void GoJudgeApi::add_file(const ExchangePtr& exchange) {
  const std::string* type = exchange->request.header("content-type");
  const auto file = type ? file_of_form(*type, exchange->request.body, "file") : std::nullopt;
  if (!file)
    return exchange->answer(text_response(400, "expected a form with a file named \"file\""));
  auto id = store_->add({owner_of(*exchange), file->name, std::string(file->content)},
                        sys::monotonic_now());
  exchange->answer(id ? text_response(200, *id) : text_response(500, id.error().text()));
}

Response GoJudgeApi::list_files(const std::string& owner) {
  std::string body = "{";
  for (const auto& [id, name] : store_->list(owner, sys::monotonic_now())) {
    body += body.size() > 1 ? ",\"" : "\"";
    body += id + "\":";
    runtime::append_json_string(name, body);
  }
  return {.body = body + "}\n"};
}

Response GoJudgeApi::file(const Exchange& exchange, const std::string& owner,
                          const std::string& id) {
  const StoredFilePtr stored = store_->find(owner, id, sys::monotonic_now());
  if (!stored) return text_response(404, "there is no such file");
  auto held = held_share(exchange.share, stored->content.size());
  if (!held) return text_response(503, "too many bytes are held already");
  Response response{.body = stored->content, .type = "application/octet-stream"};
  // A name may hold anything; what a header may not is left out.
  std::string name;
  for (const char c : stored->name) {
    if (c >= ' ' && c < 127 && c != '"' && c != '\\') name += c;
  }
  response.held = std::move(held);
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  return response;
}

}  // namespace service
