#pragma once
// LedgerWriter: writes the ledger for the loop. Collects entries while the disk is busy and writes
// them in one commit, on a thread of libuv's pool; one errand at a time, in order, so a read sees
// earlier writes. Loop thread only; the ledger is touched by errands alone.

#include <functional>
#include <memory>
#include <vector>

#include "runtime/loop/loop.h"
#include "service/deadlines.h"
#include "service/durable/ledger.h"

namespace service {

class LedgerWriter {
 public:
  // `rested` is called whenever nothing is left to be done.
  LedgerWriter(runtime::Loop& loop, Deadlines& deadlines, std::shared_ptr<Ledger> ledger,
               std::function<void()> rested);

  // `then` is called once, when it is on the disk or has been refused. An error: it is not on the
  // disk, and nobody need know of it.
  void accept(DurableRequest arrival, std::function<void(sys::Result<Receipt>)> then);
  // `then` is called once, when the verdict is on the disk: until it can be written it is kept, and
  // written with a later errand.
  void record(VerdictEntry verdict, std::function<void(const VerdictEntry&)> then);
  // Runs `work` on another thread after all earlier writes, then `then`.
  void read(std::function<void(Ledger&)> work, std::function<void()> then);
  // `then` (may be null) is called once, with whether it is on the disk: false where what it needs
  // is not there, an error where the disk does not take it. What takes something away is then tried
  // again, once a second.
  using Made = sys::Result<bool>;
  void change(SessionChange change, std::function<void(Made)> then);
  void tidy();  // forgets what is due, now and from now on

  bool busy() const;
  // Verdicts, and their bytes, that are to be written yet.
  size_t unwritten() const { return verdicts_.size() + verdicts_under_way_; }
  size_t unwritten_bytes() const { return unwritten_bytes_; }

 private:
  struct Acceptance {
    DurableRequest arrival;
    std::function<void(sys::Result<Receipt>)> then;
    sys::Result<Receipt> outcome = Receipt{};
  };
  struct Recording {
    VerdictEntry verdict;
    std::function<void(const VerdictEntry&)> then;
    bool written = false;
  };
  struct Alteration {
    SessionChange change;
    std::function<void(Made)> then;
    Made outcome = false;
  };
  struct Reading {
    std::function<void(Ledger&)> work;
    std::function<void()> then;
  };
  // One errand: what it takes along, and what it brings back.
  struct Errand {
    std::vector<Acceptance> arrivals;
    std::vector<Recording> verdicts;
    std::vector<Alteration> alterations;
    std::vector<SessionChange> removals;  // that the disk did not take before
    std::vector<Reading> readings;
    bool tidy = false;
    sys::Result<std::optional<int64_t>> next_tidy = std::optional<int64_t>();
    void perform(Ledger& ledger);
    void write(Ledger& ledger);
    void write_one_by_one(Ledger& ledger, int64_t now_ms);
    void alter(Ledger& ledger);
    void remove(Ledger& ledger);
  };

  void go();
  void come_back(Errand& errand);
  void keep_unwritten(Errand& errand);
  void keep_unremoved(Errand& errand);
  void plan_tidying(const Errand& errand);

  runtime::Loop& loop_;
  Deadlines& deadlines_;
  const std::shared_ptr<Ledger> ledger_;
  const std::function<void()> rested_;
  std::vector<Acceptance> arrivals_;
  std::vector<Recording> verdicts_;
  std::vector<Alteration> alterations_;
  std::vector<SessionChange> unremoved_;
  std::vector<Reading> readings_;
  size_t unwritten_bytes_ = 0, verdicts_under_way_ = 0;
  bool under_way_ = false, tidy_ = false, removes_ = false;
  Deadlines::Id retry_ = 0, next_tidy_ = 0, next_removal_ = 0;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // for errands that come late
};

int64_t system_now_ms();

}  // namespace service
