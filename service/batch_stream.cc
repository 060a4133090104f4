#include "service/batch_stream.h"

#include <fmt/format.h>

#include "runtime/api/json_reader.h"
#include "runtime/api/result_json.h"
#include "runtime/utf8.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kIdsLogged = 8;
constexpr size_t kIdShown = 100;

// Of the second form: its first key is one of these two, which no job has.
bool is_object_form(std::string_view body) {
  runtime::JsonReader in(body);
  std::string key;
  return in.peek() == runtime::JsonReader::Type::kObject && in.open_object() &&
         in.next_key(true, key) && (key == "jobs" || key == "defaults");
}

bool read_elements(runtime::JsonReader& in, std::string& lines) {
  if (in.peek() != runtime::JsonReader::Type::kArray) {
    in.expected("a list of jobs");
    return in.at_field("jobs");
  }
  in.open_array();
  for (bool first = true; in.next_item(first); first = false) {
    if (!in.skip(&lines)) return false;
    lines += '\n';
  }
  return in.ok();
}

}  // namespace

Result<BatchBody> BatchBody::read(std::string_view text) {
  BatchBody body;
  if (!is_object_form(text)) return body;
  body.is_object = true;
  runtime::JsonReader in(text);
  in.open_object();
  std::string key, defaults;
  for (bool first = true; in.next_key(first, key); first = false) {
    if (key == "jobs") {
      if (!read_elements(in, body.elements)) return in.error();
    } else if (key == "defaults") {
      defaults.clear();
      if (!in.skip(&defaults)) return in.error();
    } else {
      return Error::because("unknown field " + key + "; there are defaults and jobs");
    }
  }
  if (!in.ok() || !in.finish()) return in.error();
  if (!defaults.empty()) {
    Result<runtime::JobDefaults> read = runtime::parse_defaults(defaults);
    if (!read) return std::move(read).error().context("defaults");
    body.defaults = std::move(read).value();
  }
  return body;
}

BatchStream::BatchStream(ExchangePtr exchange, Desk& desk, BatchBody body,
                         runtime::JobDefaults defaults, size_t at_once, Over over)
    : exchange_(std::move(exchange)),
      desk_(desk),
      defaults_(body.defaults ? *body.defaults : std::move(defaults)),
      body_(std::move(body)),
      at_once_(at_once),
      over_(std::move(over)),
      left_(body_.is_object ? std::string_view(body_.elements)
                            : std::string_view(exchange_->request.body)) {}

void BatchStream::start() {
  exchange_->when_gone([self = shared_from_this()] { self->abandon(); });
  exchange_->when_room([self = shared_from_this()] { self->feed(); });
  exchange_->begin({.type = "application/x-ndjson"});
  feed();
}

void BatchStream::feed() {
  if (feeding_ || abandoned_) return;
  const auto self = shared_from_this();
  feeding_ = true;
  while (under_way_.size() < at_once_ && desk_.has_room() && exchange_->has_room()) {
    const std::optional<BatchBody::Line> line = next_line();
    if (!line) break;
    take(*line);
  }
  feeding_ = false;
  end_if_done();
}

// Blank ones are passed over.
std::optional<BatchBody::Line> BatchStream::next_line() {
  while (!left_.empty()) {
    const size_t end = std::min(left_.find('\n'), left_.size());
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    ++number_;
    if (text.find_first_not_of(" \t\r") != text.npos) return BatchBody::Line{number_, text};
  }
  return std::nullopt;
}

void BatchStream::take(const BatchBody::Line& line) {
  Result<runtime::Job> job = runtime::parse_job(line.text, defaults_);
  if (!job) return write_bad_job(line, job.error().text(), runtime::identity_of(line.text));
  if (job->id.empty()) {
    job->id = generated_id(line.number);
  } else if (!ids_.insert(job->id).second) {
    const std::string id(runtime::utf8_head(job->id, kIdShown));
    return write_bad_job(line, fmt::format("id: \"{}\" is there twice", id),
                         {.id = "", .tag = std::move(job->tag)});
  }
  submit(std::move(job).value());
}

void BatchStream::submit(runtime::Job job) {
  note(job.id);
  Desk::Order order;
  order.client = exchange_->client;
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Desk::Ticket>(0);
  order.done = [self = shared_from_this(), ticket](Finished finished) {
    self->under_way_.erase(*ticket);
    self->exchange_->write(std::move(finished.json) + "\n");
    self->feed();
  };
  order.job = std::move(job);
  const auto taken = desk_.submit(std::move(order));
  *ticket = std::get<Desk::Ticket>(taken);  // has_room() was asked, and no patience is given
  under_way_.insert(*ticket);
}

void BatchStream::write_bad_job(const BatchBody::Line& line, std::string message,
                                runtime::JobIdentity identity) {
  const bool own = !identity.id.empty() && ids_.insert(identity.id).second;
  std::string id = own ? std::move(identity.id) : generated_id(line.number);
  note(id);
  std::string text;
  runtime::append_result(
      runtime::bad_job(line.number, std::move(id), std::move(identity.tag), std::move(message)),
      text);
  exchange_->write(text + "\n");
}

// As `zygo batch` makes them.
std::string BatchStream::generated_id(size_t number) {
  std::string id = fmt::format("job-{}", number);
  while (!ids_.insert(id).second) id += "-generated";
  return id;
}

void BatchStream::note(const std::string& id) {
  if (exchange_->job_count++ < kIdsLogged) exchange_->jobs.push_back(id);
}

void BatchStream::abandon() {
  abandoned_ = true;
  const std::unordered_set<Desk::Ticket> tickets = under_way_;
  for (Desk::Ticket ticket : tickets) desk_.withdraw(ticket);
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

void BatchStream::end_if_done() {
  if (!under_way_.empty() || !left_.empty() || abandoned_ || !exchange_->open()) return;
  exchange_->end();
  if (auto over = std::exchange(over_, nullptr)) over(shared_from_this());
}

}  // namespace service
