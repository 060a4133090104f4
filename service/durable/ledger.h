#pragma once
// Ledger: durable requests, their jobs and verdicts, and sessions, in one SQLite file. When a
// function that writes returns without an error, its data is on the disk. A verdict is written once
// and never changed. Blocks; one thread at a time (the ledger writer ensures it). Bodies are
// untrusted and not parsed.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"
#include "service/durable/database.h"
#include "service/durable/session_rows.h"

namespace service {

// A request with its jobs, as it comes.
struct DurableRequest {
  struct Job {
    std::string name;  // the id that its result carries
    int priority = 0;
    std::optional<sys::Milliseconds> patience;  // to be started within
    std::string body;                           // as it was sent
    std::string verdict;                        // there is nothing to run: this is its result
  };
  std::string id, client;
  std::string key, digest;              // of idempotency, and of what was sent; key: may be empty
  std::string defaults, template_name;  // that lie under its jobs; may be empty
  std::vector<Job> jobs;
};

// A job without a verdict.
struct Waiting {
  int64_t number = 0, request = 0;  // both in order of arrival
  std::string client;
  int priority = 0;
  size_t bytes = 0;      // of its body
  int64_t until_ms = 0;  // to be started by, by the system's clock; 0: whenever
};

struct Receipt {
  enum class Kind : uint8_t {
    kNew,
    kKnown,         // the same key and the same request: this is the earlier one
    kOtherRequest,  // the same key, but another request
    kTooMany,       // jobs wait already
    kTooLarge,      // for what may be kept
  };
  Kind kind = Kind::kNew;
  std::string id;
  size_t jobs = 0;
  std::vector<Waiting> waiting = {};
};

struct VerdictEntry {
  int64_t number = 0;  // of the job
  int64_t request = 0;
  std::string json;
  bool expired = false;  // it could not be started in time
};

// The stored data from which a job is made again.
struct StoredJob {
  int64_t number = 0;
  std::string name, body, defaults, template_name;
};

// How far a request is.
struct Progress {
  int64_t request = 0;
  size_t jobs = 0, left = 0;
};

class Ledger {
 public:
  struct Limits {
    size_t most_waiting = 100'000;       // jobs without a verdict
    sys::Bytes most{uint64_t{1} << 30};  // of everything
    sys::Milliseconds keep{86'400'000};  // what has ended
  };
  static constexpr size_t kOverhead = 512;  // bytes that a job counts for besides its texts

  // Makes the file when there is none. The error names it.
  static sys::Result<std::unique_ptr<Ledger>> open(const std::string& path, Limits limits);

  // All of it, or nothing. A verdict for a job that has one already is passed over.
  sys::Result<std::vector<Receipt>> write(std::span<const DurableRequest* const> arrivals,
                                          std::span<const VerdictEntry* const> verdicts,
                                          int64_t now_ms);

  // The same for sessions, of which each change says whether it could be made (SessionRows).
  sys::Result<std::vector<bool>> write(std::span<const SessionChange* const> changes);
  sys::Result<std::vector<SessionRow>> sessions();

  sys::Result<std::vector<Waiting>> waiting();
  sys::Result<std::vector<StoredJob>> load(std::span<const int64_t> numbers);
  sys::Result<std::optional<Progress>> find(const std::string& id, const std::string& client);
  // Verdicts of a request in the order in which they came, from the one after so many on; a part of
  // them that has about so many bytes.
  sys::Result<std::vector<VerdictEntry>> verdicts(int64_t request, size_t after, size_t bytes);

  // Removes some of the oldest ended requests that are past their time or over the size limit.
  // Returns the time of the next call, by the system's clock; nothing: there is none to wait for.
  sys::Result<std::optional<int64_t>> forget(int64_t now_ms);

  const Limits& limits() const { return limits_; }
  size_t bytes() const { return counts_.bytes; }

 private:
  // Counts of the data on the disk.
  struct Counts {
    size_t waiting = 0;          // jobs
    uint64_t bytes = 0;          // of everything
    uint64_t waiting_bytes = 0;  // of requests that have not ended
  };
  Ledger(Database database, Limits limits) : database_(std::move(database)), limits_(limits) {}
  sys::Result<void> count();
  sys::Result<std::vector<Receipt>> try_to_write(std::span<const DurableRequest* const> arrivals,
                                                 std::span<const VerdictEntry* const> verdicts,
                                                 int64_t now_ms);
  sys::Result<std::vector<bool>> try_to_write(std::span<const SessionChange* const> changes);
  bool has_made_room(const sys::Error& error);
  sys::Result<Receipt> add(const DurableRequest& arrival, int64_t now_ms, Counts& counts);
  sys::Result<std::optional<Receipt>> earlier(const DurableRequest& arrival);
  sys::Result<void> add_job(const DurableRequest& arrival, const DurableRequest::Job& job,
                            int64_t request, int64_t now_ms, Receipt& receipt);
  sys::Result<void> add_verdict(const VerdictEntry& verdict, int64_t now_ms, Counts& counts);
  sys::Result<std::optional<int64_t>> next_due(int64_t now_ms);
  sys::Result<void> forget_some(int64_t now_ms);

  Database database_;
  const Limits limits_;
  Counts counts_;
};

}  // namespace service
