#pragma once
// Assignments: which pilots have which job, and whose verdict counts. A job may be started more
// than once, because a pilot that is silent may be dead or only slow; the first verdict is the
// job's, and whatever comes behind it is dropped and counted. Pure.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cluster {

class Assignments {
 public:
  using Task = uint64_t;    // a job of the router's
  using Pilot = uint64_t;   // one connection of a pilot
  using Number = uint64_t;  // of an assignment
  // A job whose pilot was lost under it so often is not tried again: it may be what ends pilots.
  static constexpr unsigned kMostLosses = 3;

  struct Place {
    Pilot pilot = 0;
    Number number = 0;
    bool operator==(const Place&) const = default;
  };
  struct Lost {
    std::vector<Task> again;     // to be placed anew
    std::vector<Task> given_up;  // nobody has them any more, and they were lost too often
  };

  Number assign(Task task, Pilot pilot);
  // A cell has it. The task whose assignment it is; none: nobody waits for it any more.
  std::optional<Task> began(Number number);
  std::optional<Task> task_of(Number number) const;
  std::optional<Pilot> pilot_of(Number number) const;
  // Its verdict has come. The task, which is over by this; `others` are its other places, where it
  // need not go on. None: its verdict came before, or it was withdrawn.
  std::optional<Task> ended(Number number, std::vector<Place>& others);
  // The pilot will not start it. The task, if nobody else has it.
  std::optional<Task> returned(Number number);
  // The task is over without a verdict of a pilot: all of its places.
  std::vector<Place> drop(Task task);
  // The lease of a pilot is over, and it may come back: what it had is started elsewhere, and a
  // verdict of it counts still if it is the first.
  Lost lapsed(Pilot pilot);
  // The connection is gone.
  Lost lost(Pilot pilot);

  std::vector<Place> places_of(Task task) const;
  bool has_begun(Task task) const;
  size_t size_of(Pilot pilot) const;
  size_t begun_of(Pilot pilot) const;              // of them, those that a cell has
  uint64_t doubles() const { return doubles_; }    // verdicts that were not the first
  uint64_t restarts() const { return restarts_; }  // of jobs, because their pilot was lost

 private:
  struct Assignment {
    Task task = 0;
    Pilot pilot = 0;
    bool began = false, lapsed = false;
  };
  struct Record {
    std::vector<Number> numbers;
    unsigned losses = 0;  // while it ran
  };
  void forget(Number number);
  bool is_held(const Record& record) const;
  void count_loss(Assignment& assignment, Lost& lost);

  std::unordered_map<Number, Assignment> assignments_;
  std::unordered_map<Task, Record> tasks_;
  std::unordered_map<Pilot, std::vector<Number>> pilots_;
  Number last_ = 0;
  uint64_t doubles_ = 0, restarts_ = 0;
};

}  // namespace cluster
