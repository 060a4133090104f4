#pragma once
// Members: the pilots that are joined. What each has said of itself, the way to it, and what it has
// to do, as placement weighs it. Knows no jobs but the one that is to be placed. Loop thread only.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/router/pilot_link.h"
#include "cluster/router/placement.h"
#include "cluster/wire/messages.h"
#include "runtime/engine/engine.h"
#include "runtime/job/job.h"
#include "sandbox/sys/units.h"

namespace cluster {

class Members {
 public:
  using Pilot = Placement::Pilot;
  // What people are told about one.
  struct Member {
    Hello hello;
    uint16_t version = 0;  // that is spoken with it
    std::string address;
    sys::Nanoseconds since{};
    Status status;
    uint64_t ended = 0;  // verdicts of it that counted
    bool draining = false, lapsed = false;
    PilotLink* link = nullptr;
  };

  explicit Members(uint64_t seed) : placement_(seed) {}

  Pilot enter(Hello hello, std::string address, PilotLink& link);
  void leave(Pilot pilot);
  bool contains(Pilot pilot) const { return members_.contains(pilot); }
  uint16_t version_of(Pilot pilot) const { return members_.at(pilot).version; }
  const std::map<Pilot, Member>& all() const { return members_; }
  bool set_lapsed(Pilot pilot, bool lapsed);  // whether that is news
  void set_draining(Pilot pilot);
  // `ours`: jobs that it has of this router.
  void set_status(Pilot pilot, const Status& status, size_t ours);
  void count(Pilot pilot, size_t ours);
  void fill(Pilot pilot, size_t ours);  // it gave a job back: no room until it says how it stands
  void add_verdict(Pilot pilot, const std::string& key);  // of a job whose template is warm now

  // The one that gets the next job; none: nobody has room. `is_side`: of a conversation, which
  // takes two workers. Where nobody can run it, whoever has room says in the engine's own words
  // what is missing.
  std::optional<Pilot> choose(const std::string& key, const runtime::Job& job, bool is_side);
  bool has_room() const { return placement_.has_room(); }
  void send(Pilot pilot, std::string_view message) const;

  // Of all of them.
  unsigned workers() const { return placement_.workers(); }
  bool has_template(const std::string& name) const;
  runtime::Engine::Standing standing() const;  // the least that any of them has; there is one
  runtime::Engine::Counts counts() const;

 private:
  template <class Change>
  void change_load(Pilot pilot, Change&& change);
  bool can_run(Pilot pilot, const runtime::Job& job, bool is_side) const;

  std::map<Pilot, Member> members_;
  Placement placement_;
  Pilot last_ = 0;
};

}  // namespace cluster
