#include "service/apis/judge0/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "service/apis/judge0/ending.h"
#include "service/apis/judge0/writing.h"
#include "service/apis/results.h"

namespace service::judge0 {

namespace {

constexpr size_t kIdsLogged = 8;

Response too_much() { return refusal(503, "too many bytes are held already"); }

Response token_response(const std::string& token) {
  return {.status = 201, .body = line_of({{"token", token}})};
}

Response full_response(const Dispatcher::Busy& busy) {
  Response response = refusal(503, "queue is full");
  response.headers.emplace_back("Retry-After", std::to_string(busy.retry_after));
  return response;
}

size_t size_of(const std::vector<runtime::InputFile>& files) {
  size_t size = 0;
  for (const runtime::InputFile& file : files) size += file.path.size() + file.content.size();
  return size;
}

SubmissionStore::Limits within(SubmissionStore::Limits limits, uint64_t held) {
  limits.bytes = std::min(limits.bytes, held / 4);
  return limits;
}

}  // namespace

Judge0Api::Judge0Api(const ApiContext& context, const Options& options)
    : context_(context),
      store_(within(options.store, context.most_held)),
      teller_(context, options.callbacks) {}

void Judge0Api::with_languages(Edition edition,
                               std::function<void(const std::vector<Language>&)> use) {
  const bool by_cgroup = context_.layers.has(sandbox::Layer::kCgroupMemory);
  const Counting counting = by_cgroup ? Counting::kUsed : Counting::kMapped;
  context_.runtimes.get(
      [use = std::move(use), edition, counting](const InstalledRuntimes::List& runtimes) {
        use(languages_of(runtimes.records, edition, counting));
      });
}

// Holders of tokens do not see each other's submissions; without tokens there is nobody to tell
// apart, and a submission's token says who may ask.
std::string Judge0Api::owner_of(const Exchange& exchange) const {
  return context_.knows_clients ? exchange.client : "";
}

void Judge0Api::create(const ExchangePtr& exchange, Edition edition) {
  auto query = read_query(exchange->request);
  if (auto* refused = std::get_if<Response>(&query)) return exchange->answer(std::move(*refused));
  with_languages(
      edition, [this, exchange, query = std::get<Query>(std::move(query))](
                   const std::vector<Language>& languages) { create(exchange, query, languages); });
}

void Judge0Api::create(const ExchangePtr& exchange, const Query& query,
                       const std::vector<Language>& languages) {
  auto made = std::make_shared<std::variant<ReadSubmission, Response>>(refusal(500, ""));
  read(
      exchange,
      [exchange, made, languages, encoding = query.encoding,
       &defaults = context_.defaults](const Offered& offered) {
        *made = read_create(exchange->request.body, encoding, languages, defaults, offered);
      },
      [this, exchange, made, query] { create(exchange, query, std::move(*made)); });
}

// Files may be many when they are extracted, whatever the length of the body.
void Judge0Api::read(const ExchangePtr& exchange, std::function<void(const Offered&)> read,
                     std::function<void()> then) const {
  struct Held {
    Allowance::Share share;
    bool is_refused = false;
  };
  const auto held = std::make_shared<Held>(Held{exchange->share.another()});
  const auto room = [held](size_t bytes) {
    held->is_refused = held->is_refused || !held->share.resize(held->share.bytes() + bytes);
    return !held->is_refused;
  };
  auto read_it = [read = std::move(read), offered = Offered{teller_.check(), room}] {
    read(offered);
  };
  if (!may_have_files(exchange->request.body))
    return context_.readers.read_body(exchange, std::move(read_it), std::move(then));
  context_.readers.read(exchange->client, std::move(read_it),
                        [exchange, held, then = std::move(then)] {
                          held->share.resize(0);  // the jobs made of them have their own
                          if (!exchange->open()) return;
                          if (held->is_refused) return exchange->answer(too_much());
                          then();
                        });
}

void Judge0Api::create(const ExchangePtr& exchange, const Query& query,
                       std::variant<ReadSubmission, Response> read) {
  exchange->request.body = std::string();
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& submission = std::get<ReadSubmission>(read);
  if (const auto* objections = std::get_if<Objections>(&submission))
    return exchange->answer(objections_response(*objections));
  auto& made = std::get<NewSubmission>(submission);
  if (query.wait) return create_and_wait(exchange, query, std::move(made));
  auto started = start(*exchange, std::move(made), nullptr);
  if (auto* refused = std::get_if<Response>(&started)) return exchange->answer(std::move(*refused));
  exchange->answer(token_response(std::get<Started>(started).token));
}

// Nobody knows the token of a client that does not wait any more.
void Judge0Api::create_and_wait(const ExchangePtr& exchange, const Query& query,
                                NewSubmission made) {
  auto told = [this, exchange, query](const std::optional<Submission>& submission) {
    if (!submission) return exchange->answer(no_submission());
    answer(exchange, bytes_told(*submission), [submission = *submission, query] {
      return submission_response(201, submission, query);
    });
  };
  auto started = start(*exchange, std::move(made), std::move(told));
  if (auto* refused = std::get_if<Response>(&started)) return exchange->answer(std::move(*refused));
  exchange->when_gone([this, client = exchange.get(), one = std::get<Started>(started)] {
    withdraw(*client, one);
  });
}

// All of a batch are taken, or none is, but for those that are none.
void Judge0Api::create_batch(const ExchangePtr& exchange, const std::vector<Language>& languages) {
  auto made =
      std::make_shared<std::variant<std::vector<ReadSubmission>, Response>>(refusal(500, ""));
  read(
      exchange,
      [exchange, made, languages, &defaults = context_.defaults](const Offered& offered) {
        const Encoding encoding = encoding_in(exchange->request);
        *made = read_batch(exchange->request.body, encoding, languages, defaults, offered);
      },
      [this, exchange, made] { create_batch(exchange, std::move(*made)); });
}

void Judge0Api::create_batch(const ExchangePtr& exchange,
                             std::variant<std::vector<ReadSubmission>, Response> read) {
  exchange->request.body = std::string();
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<Started> all;
  for (ReadSubmission& one : std::get<std::vector<ReadSubmission>>(read)) {
    if (auto* objections = std::get_if<Objections>(&one)) {
      list.push_back(std::move(*objections));
      continue;
    }
    auto started = start(*exchange, std::get<NewSubmission>(std::move(one)), nullptr);
    if (auto* refused = std::get_if<Response>(&started)) {
      for (const Started& earlier : all) withdraw(*exchange, earlier);
      return exchange->answer(std::move(*refused));
    }
    all.push_back(std::get<Started>(std::move(started)));
    list.push_back({{"token", all.back().token}});
  }
  exchange->answer({.status = all.empty() ? 422 : 201, .body = line_of(list)});
}

std::variant<Judge0Api::Started, Response> Judge0Api::start(Exchange& exchange, NewSubmission made,
                                                            Then then) {
  if (context_.jobs.is_ending()) return refusal(503, "the service is ending");
  Allowance::Share kept = exchange.share.another(), share = exchange.share.another();
  const size_t bytes = made.asked.bytes();
  if (!kept.resize(bytes) || !share.resize(bytes + size_of(made.job.files))) return too_much();
  const std::string token = new_submission_token();
  auto asked = std::make_shared<const Asked>(std::move(made.asked));
  auto ending = std::make_shared<Ending>();
  Dispatcher::Order order;
  order.job = std::move(made.job);
  if (order.job.id.empty()) order.job.id = new_job_id();
  if (exchange.job_count++ < kIdsLogged) exchange.jobs.push_back(order.job.id);
  order.client = exchange.client;
  order.api = kName;
  order.trace = exchange.trace;
  order.share = std::move(share);
  order.words = [asked, ending](const runtime::JobResult& result) {
    *ending = ending_of(result, *asked);
    return Response{};
  };
  if (asked->callback_url) {
    then = [this, like = std::make_shared<Allowance::Share>(exchange.share.another()),
            then = std::move(then)](const std::optional<Submission>& submission) {
      if (submission) teller_.tell(*submission, *like);
      if (then) then(submission);
    };
  }
  order.done = [this, token, ending, then = std::move(then)](const Finished&) {
    end(token, std::move(*ending), then);
  };
  // The end is never told before submit() has returned.
  auto taken = context_.dispatcher.submit(std::move(order));
  if (const auto* busy = std::get_if<Dispatcher::Busy>(&taken)) return full_response(*busy);
  const auto ticket = std::get<Dispatcher::Ticket>(taken);
  store_.add({.owner = owner_of(exchange),
              .submission = {.token = token, .asked = asked, .created_ms = wall_clock_ms()},
              .ticket = ticket,
              .share = std::move(kept)});
  return Started{token, ticket};
}

void Judge0Api::withdraw(const Exchange& exchange, const Started& started) {
  store_.remove(owner_of(exchange), started.token);
  context_.dispatcher.withdraw(started.ticket);
}

void Judge0Api::end(const std::string& token, Ending ending, const Then& then) {
  const sys::Nanoseconds now = sys::monotonic_now();
  const std::optional<Submission> submission = store_.end(token, std::move(ending), now);
  if (!std::exchange(forgets_, true)) forget_old();
  if (then) then(submission);
}

void Judge0Api::forget_old() {
  const auto next = store_.forget_old(sys::monotonic_now());
  forgets_ = next.has_value();
  if (next) context_.deadlines.at(*next, [this] { forget_old(); });
}

std::optional<Submission> Judge0Api::find(const Exchange& exchange,
                                          const std::string& token) const {
  const SubmissionStore::Entry* entry = store_.find(owner_of(exchange), token);
  if (!entry) return std::nullopt;
  Submission submission = entry->submission;
  if (!submission.ending && context_.dispatcher.has_started(entry->ticket))
    submission.status = Status::kProcessing;
  return submission;
}

void Judge0Api::show(const ExchangePtr& exchange, const std::string& token) {
  auto query = read_query(exchange->request);
  if (auto* refused = std::get_if<Response>(&query)) return exchange->answer(std::move(*refused));
  std::optional<Submission> submission = find(*exchange, token);
  if (!submission) return exchange->answer(no_submission());
  const size_t bytes = bytes_told(*submission);
  answer(exchange, bytes,
         [submission = *std::move(submission), query = std::get<Query>(std::move(query))] {
           return submission_response(200, submission, query);
         });
}

void Judge0Api::show_batch(const ExchangePtr& exchange) {
  auto query = read_query(exchange->request);
  if (auto* refused = std::get_if<Response>(&query)) return exchange->answer(std::move(*refused));
  const std::vector<std::string> tokens = tokens_in(exchange->request);
  if (auto refused = objection_to_batch(tokens.size()))
    return exchange->answer(*std::move(refused));
  std::vector<std::optional<Submission>> batch;
  size_t bytes = 0;
  for (const std::string& token : tokens) {
    batch.push_back(find(*exchange, token));
    if (batch.back()) bytes += bytes_told(*batch.back());
  }
  answer(exchange, bytes, [batch = std::move(batch), query = std::get<Query>(std::move(query))] {
    return batch_response(batch, query);
  });
}

// The answer has everything in base64: it is the last one.
void Judge0Api::remove(const ExchangePtr& exchange, const std::string& token) {
  auto query = read_query(exchange->request);
  if (auto* refused = std::get_if<Response>(&query)) return exchange->answer(std::move(*refused));
  std::get<Query>(query).encoding = Encoding::kBase64;
  const std::optional<Submission> submission = find(*exchange, token);
  if (!submission) return exchange->answer(no_submission());
  if (!submission->ending)
    return exchange->answer(refusal(
        400, fmt::format("submission cannot be deleted because its status is {} ({})",
                         static_cast<int>(submission->status), name_of(submission->status))));
  store_.remove(owner_of(*exchange), token);
  answer(exchange, bytes_told(*submission),
         [submission = *submission, query = std::get<Query>(std::move(query))] {
           return submission_response(200, submission, query);
         });
}

void Judge0Api::answer(const ExchangePtr& exchange, size_t bytes,
                       std::function<Response()> make) const {
  auto held = held_share(exchange->share, kTree * bytes);
  if (!held) return exchange->answer(too_much());
  write_answer(context_.loop, bytes, std::move(make),
               [exchange, held = std::move(held)](Response response) {
                 response.held = held;
                 exchange->answer(std::move(response));
               });
}

}  // namespace service::judge0
