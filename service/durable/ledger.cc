#include "service/durable/ledger.h"

#include <algorithm>

#include "service/durable/schema.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

// Requests and pages at once, so that what else is to be written does not wait long.
constexpr size_t kForgottenAtOnce = 200;
constexpr const char* kGiveBackPages = "PRAGMA incremental_vacuum(512)";
constexpr int64_t kFreePages = 1024;  // are left for what comes next
constexpr int64_t kPauseMs = 100;
constexpr const char* kForgetJobs = "DELETE FROM jobs WHERE request = ?";
constexpr const char* kForgetRequest = "DELETE FROM requests WHERE number = ?";

size_t size_of(const DurableRequest& arrival) {
  size_t bytes = arrival.defaults.size();
  for (const DurableRequest::Job& job : arrival.jobs)
    bytes += Ledger::kOverhead + job.body.size() + job.verdict.size();
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const std::string& path, Limits limits) {
  Database database = TRY(open_ledger_file(path));
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(database), limits));
  TRY(ledger->count());
  return ledger;
}

Result<void> Ledger::count() {
  counts_.waiting =
      static_cast<size_t>(TRY(database_.number("SELECT count(*) FROM jobs WHERE place IS NULL")));
  auto sums = TRY(database_.query(
      "SELECT total(bytes), total(CASE WHEN ended_ms IS NULL THEN bytes END) FROM requests"));
  if (TRY(sums->next())) {
    counts_.bytes = static_cast<uint64_t>(sums->number_at(0));
    counts_.waiting_bytes = static_cast<uint64_t>(sums->number_at(1));
  }
  return {};
}

// A full disk may still have room in the database for what is in the log.
bool Ledger::has_made_room(const Error& error) {
  return is_full(error) && database_.run("PRAGMA wal_checkpoint(TRUNCATE)").ok();
}

Result<std::vector<Receipt>> Ledger::write(std::span<const DurableRequest* const> arrivals,
                                           std::span<const VerdictEntry* const> verdicts,
                                           int64_t now_ms) {
  auto receipts = try_to_write(arrivals, verdicts, now_ms);
  if (receipts.ok() || !has_made_room(receipts.error())) return receipts;
  return try_to_write(arrivals, verdicts, now_ms);
}

Result<std::vector<bool>> Ledger::write(std::span<const SessionChange* const> changes) {
  auto made = try_to_write(changes);
  if (made.ok() || !has_made_room(made.error())) return made;
  return try_to_write(changes);
}

Result<std::vector<bool>> Ledger::try_to_write(std::span<const SessionChange* const> changes) {
  std::vector<bool> made;
  Transaction all = TRY(Transaction::begin(database_));
  for (const SessionChange* change : changes)
    made.push_back(TRY(SessionRows(database_).write(*change)));
  TRY(all.commit());
  return made;
}

Result<std::vector<SessionRow>> Ledger::sessions() { return SessionRows(database_).load(); }

Result<std::vector<Receipt>> Ledger::try_to_write(std::span<const DurableRequest* const> arrivals,
                                                  std::span<const VerdictEntry* const> verdicts,
                                                  int64_t now_ms) {
  Counts counts = counts_;
  Transaction all = TRY(Transaction::begin(database_));
  for (const VerdictEntry* verdict : verdicts) TRY(add_verdict(*verdict, now_ms, counts));
  std::vector<Receipt> receipts;
  for (const DurableRequest* arrival : arrivals)
    receipts.push_back(TRY(add(*arrival, now_ms, counts)));
  TRY(all.commit());
  counts_ = counts;
  return receipts;
}

Result<std::optional<Receipt>> Ledger::earlier(const DurableRequest& arrival) {
  if (arrival.key.empty()) return std::optional<Receipt>();
  auto found =
      TRY(database_.query("SELECT id, jobs, digest FROM requests WHERE client = ? AND key = ?"));
  found->text(arrival.client).text(arrival.key);
  if (!TRY(found->next())) return std::optional<Receipt>();
  if (found->bytes_at(2) != arrival.digest)
    return std::optional<Receipt>(Receipt{.kind = Receipt::Kind::kOtherRequest, .id = ""});
  return std::optional<Receipt>(Receipt{.kind = Receipt::Kind::kKnown,
                                        .id = found->bytes_at(0),
                                        .jobs = static_cast<size_t>(found->number_at(1))});
}

Result<Receipt> Ledger::add(const DurableRequest& arrival, int64_t now_ms, Counts& counts) {
  if (auto known = TRY(earlier(arrival))) return *std::move(known);
  const auto left = static_cast<size_t>(
      std::count_if(arrival.jobs.begin(), arrival.jobs.end(),
                    [](const DurableRequest::Job& job) { return job.verdict.empty(); }));
  const size_t bytes = size_of(arrival);
  if (counts.waiting + left > limits_.most_waiting)
    return Receipt{.kind = Receipt::Kind::kTooMany, .id = ""};
  if (counts.waiting_bytes + bytes > limits_.most.count)
    return Receipt{.kind = Receipt::Kind::kTooLarge, .id = ""};
  auto row = TRY(database_.query(
      "INSERT INTO requests (id, client, key, digest, defaults, template, jobs, left, bytes, "
      "ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row->text(arrival.id).text(arrival.client).text_or_null(arrival.key).text(arrival.digest);
  row->text(arrival.defaults).text(arrival.template_name);
  row->number(static_cast<int64_t>(arrival.jobs.size())).number(static_cast<int64_t>(left));
  row->number(static_cast<int64_t>(bytes)).number_or_null(left == 0 ? now_ms : 0);
  TRY(row->run());
  Receipt receipt{.id = arrival.id, .jobs = arrival.jobs.size()};
  const int64_t request = database_.last_row();
  for (const DurableRequest::Job& job : arrival.jobs)
    TRY(add_job(arrival, job, request, now_ms, receipt));
  counts.waiting += left;
  counts.bytes += bytes;
  if (left > 0) counts.waiting_bytes += bytes;
  return receipt;
}

Result<void> Ledger::add_job(const DurableRequest& arrival, const DurableRequest::Job& job,
                             int64_t request, int64_t now_ms, Receipt& receipt) {
  const bool waits = job.verdict.empty();
  const size_t ended_before =
      static_cast<size_t>(&job - arrival.jobs.data()) - receipt.waiting.size();
  Waiting waiting{.request = request,
                  .client = arrival.client,
                  .priority = job.priority,
                  .bytes = job.body.size()};
  if (job.patience) waiting.until_ms = now_ms + job.patience->count();
  auto row = TRY(
      database_.query("INSERT INTO jobs (request, name, priority, until_ms, place, body, verdict) "
                      "VALUES (?, ?, ?, ?, CASE WHEN ? THEN NULL ELSE ? END, ?, ?)"));
  row->number(request).text(job.name).number(job.priority).number_or_null(waiting.until_ms);
  row->number(waits ? 1 : 0).number(static_cast<int64_t>(ended_before));
  row->bytes(job.body).bytes(job.verdict);
  TRY(row->run());
  if (!waits) return {};
  waiting.number = database_.last_row();
  receipt.waiting.push_back(std::move(waiting));
  return {};
}

// The body has done its duty.
Result<void> Ledger::add_verdict(const VerdictEntry& verdict, int64_t now_ms, Counts& counts) {
  auto job = TRY(database_.query(
      "SELECT j.request, length(j.body), r.jobs - r.left, r.left, r.bytes FROM jobs j "
      "JOIN requests r ON r.number = j.request WHERE j.number = ? AND j.place IS NULL"));
  job->number(verdict.number);
  if (!TRY(job->next())) return {};
  const int64_t request = job->number_at(0), place = job->number_at(2), left = job->number_at(3);
  const int64_t more = static_cast<int64_t>(verdict.json.size()) - job->number_at(1);
  const int64_t bytes = job->number_at(4) + more;
  auto update = TRY(database_.query(
      "UPDATE jobs SET verdict = ?, expired = ?, place = ?, body = NULL WHERE number = ?"));
  update->bytes(verdict.json).number(verdict.expired ? 1 : 0).number(place).number(verdict.number);
  TRY(update->run());
  auto of = TRY(database_.query(
      "UPDATE requests SET left = left - 1, bytes = ?, ended_ms = ? WHERE number = ?"));
  of->number(bytes).number_or_null(left == 1 ? now_ms : 0).number(request);
  TRY(of->run());
  --counts.waiting;
  counts.bytes += static_cast<uint64_t>(more);
  counts.waiting_bytes += static_cast<uint64_t>(more);
  if (left == 1) counts.waiting_bytes -= static_cast<uint64_t>(bytes);
  return {};
}

Result<std::vector<Waiting>> Ledger::waiting() {
  auto rows = TRY(database_.query(
      "SELECT j.number, j.request, r.client, j.priority, length(j.body), j.until_ms FROM jobs j "
      "JOIN requests r ON r.number = j.request WHERE j.place IS NULL ORDER BY j.number"));
  std::vector<Waiting> all;
  while (TRY(rows->next())) {
    all.push_back({.number = rows->number_at(0),
                   .request = rows->number_at(1),
                   .client = rows->bytes_at(2),
                   .priority = static_cast<int>(rows->number_at(3)),
                   .bytes = static_cast<size_t>(rows->number_at(4)),
                   .until_ms = rows->number_at(5)});
  }
  return all;
}

Result<std::vector<StoredJob>> Ledger::load(std::span<const int64_t> numbers) {
  std::vector<StoredJob> jobs;
  for (int64_t number : numbers) {
    auto row = TRY(database_.query(
        "SELECT j.name, j.body, r.defaults, r.template FROM jobs j "
        "JOIN requests r ON r.number = j.request WHERE j.number = ? AND j.place IS NULL"));
    row->number(number);
    if (!TRY(row->next())) continue;
    jobs.push_back({.number = number,
                    .name = row->bytes_at(0),
                    .body = row->bytes_at(1),
                    .defaults = row->bytes_at(2),
                    .template_name = row->bytes_at(3)});
  }
  return jobs;
}

Result<std::optional<Progress>> Ledger::find(const std::string& id, const std::string& client) {
  auto row =
      TRY(database_.query("SELECT number, jobs, left FROM requests WHERE id = ? AND client = ?"));
  row->text(id).text(client);
  if (!TRY(row->next())) return std::optional<Progress>();
  return std::optional<Progress>({.request = row->number_at(0),
                                  .jobs = static_cast<size_t>(row->number_at(1)),
                                  .left = static_cast<size_t>(row->number_at(2))});
}

Result<std::vector<VerdictEntry>> Ledger::verdicts(int64_t request, size_t after, size_t bytes) {
  auto rows =
      TRY(database_.query("SELECT number, verdict, expired FROM jobs "
                          "WHERE request = ? AND place >= ? ORDER BY place"));
  rows->number(request).number(static_cast<int64_t>(after));
  std::vector<VerdictEntry> found;
  for (size_t have = 0; have < bytes && TRY(rows->next()); have += found.back().json.size()) {
    found.push_back({.number = rows->number_at(0),
                     .request = request,
                     .json = rows->bytes_at(1),
                     .expired = rows->number_at(2) != 0});
  }
  return found;
}

Result<std::optional<int64_t>> Ledger::next_due(int64_t now_ms) {
  auto oldest =
      TRY(database_.query("SELECT min(ended_ms) FROM requests WHERE ended_ms IS NOT NULL"));
  if (!TRY(oldest->next()) || oldest->is_null(0)) return std::optional<int64_t>();
  if (counts_.bytes > limits_.most.count) return std::optional<int64_t>(now_ms);
  return std::optional<int64_t>(oldest->number_at(0) + limits_.keep.count());
}

Result<std::optional<int64_t>> Ledger::forget(int64_t now_ms) {
  std::optional<int64_t> due = TRY(next_due(now_ms));
  if (due && *due <= now_ms) {
    const Counts before = counts_;
    Result<void> gone = forget_some(now_ms);
    if (!gone) {
      counts_ = before;
      return std::move(gone).error();
    }
    due = TRY(next_due(now_ms));
  }
  if (TRY(database_.number("PRAGMA freelist_count")) > kFreePages) {
    TRY(database_.run(kGiveBackPages));
    due = now_ms;
  }
  // With a pause, so that what is to be written meanwhile is.
  if (due) due = std::max(*due, now_ms + kPauseMs);
  return due;
}

Result<void> Ledger::forget_some(int64_t now_ms) {
  Transaction all = TRY(Transaction::begin(database_));
  for (size_t i = 0; i < kForgottenAtOnce; ++i) {
    auto oldest =
        TRY(database_.query("SELECT number, bytes FROM requests WHERE ended_ms IS NOT NULL AND "
                            "(ended_ms <= ? OR ?) ORDER BY ended_ms, number LIMIT 1"));
    oldest->number(now_ms - limits_.keep.count()).number(counts_.bytes > limits_.most.count);
    if (!TRY(oldest->next())) break;
    const int64_t request = oldest->number_at(0);
    counts_.bytes -= static_cast<uint64_t>(oldest->number_at(1));
    for (const char* sql : {kForgetJobs, kForgetRequest}) {
      auto row = TRY(database_.query(sql));
      row->number(request);
      TRY(row->run());
    }
  }
  return all.commit();
}

}  // namespace service
