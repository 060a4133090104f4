#pragma once
// SubmissionStore: the submissions of all clients under their tokens, from their acceptance until
// they are forgotten: some time after they ended, or earlier when too many are kept; then the
// oldest leave first of the client who has the most. Those that have not ended are bounded by the
// queue, and never leave. Time is an argument. Loop thread only.

#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "sandbox/sys/units.h"
#include "service/admission/dispatcher.h"
#include "service/apis/judge0/submission.h"
#include "service/http/allowance.h"

namespace service::judge0 {

class SubmissionStore {
 public:
  struct Limits {
    size_t submissions = 10'000;           // that have ended
    uint64_t bytes = uint64_t{256} << 20;  // of them
    sys::Milliseconds keep{600'000};
  };
  struct Entry {
    std::string owner;  // whose it is: nobody else finds it
    Submission submission;
    Dispatcher::Ticket ticket = 0;
    Allowance::Share share;  // holds it, for its client
    sys::Nanoseconds ended = {};
    std::list<std::string>::iterator place = {};  // once it has ended
  };
  explicit SubmissionStore(Limits limits) : limits_(limits) {}

  void add(Entry entry);
  // Null: this owner has no such submission.
  const Entry* find(const std::string& owner, const std::string& token) const;
  // The submission as it is then, though it may have to leave at once; none: it was removed. One
  // that cannot be held is an internal error: nothing is said of its program.
  std::optional<Submission> end(const std::string& token, Ending ending, sys::Nanoseconds now);
  bool remove(const std::string& owner, const std::string& token);
  // Forgets those whose time is over, and says when the next one's is. None: none has ended.
  std::optional<sys::Nanoseconds> forget_old(sys::Nanoseconds now);
  size_t size() const { return entries_.size(); }

 private:
  // Those of one client that have ended.
  struct Kept {
    std::list<std::string> ended;  // the oldest first
    uint64_t bytes = 0;
  };
  void forget(const std::string& token);
  void make_room();

  const Limits limits_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, Kept> kept_;
  size_t ended_ = 0;
  uint64_t bytes_ = 0;
};

// One that cannot be guessed: where there are no tokens of clients, it says who may ask.
std::string new_submission_token();

}  // namespace service::judge0
