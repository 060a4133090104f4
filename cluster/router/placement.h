#pragma once
// Placement: which pilot gets the next job. Two pilots drawn by chance are compared by how long the
// job would wait there (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing",
// 2001); the draws are among pilots with a free worker as long as there are some, and among those
// that have the job's template warm. Takes the same time for ten pilots and ten thousand. Pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sandbox/sys/units.h"

namespace cluster {

class Placement {
 public:
  using Pilot = uint64_t;
  // What a router knows of one.
  struct Load {
    unsigned workers = 1;
    unsigned ours = 0;       // jobs of this router that it has
    unsigned elsewhere = 0;  // those of others, as it last said
    double mean_us = 0;      // of a worker for one job; 0: nobody knows yet
    bool closed = false;     // it drains, or is silent
    bool full = false;       // it has given a job back, and has not told since how it stands
    bool is_open() const { return !closed && !full && ours < most_at(*this); }
  };
  // Starting a template takes about this long (docs/http.md, "The first job").
  static constexpr double kColdUs = 150'000;
  static constexpr double kUsualUs = 1'000;  // of a job, before one was seen

  explicit Placement(uint64_t seed) : random_(seed) {}

  void add(Pilot pilot, const Load& load);
  void remove(Pilot pilot);
  // Null: there is no such pilot. What it changes, tell().
  const Load* find(Pilot pilot) const;
  void set(Pilot pilot, const Load& load);
  // It has the template of this key (and tenant) warm from now on.
  void warm(Pilot pilot, const std::string& key);

  // `may`: whether a pilot can run it at all. None: all that can have enough to do for now.
  std::optional<Pilot> choose(const std::string& key, const std::function<bool(Pilot)>& may);

  // So many jobs may be at a pilot at once. What is above its workers waits there, so that a worker
  // that ends a job finds the next one.
  static unsigned most_at(const Load& load);
  // Until a worker there is free for one more.
  static double wait_us(const Load& load);

  size_t size() const { return pilots_.size(); }
  bool has_room() const { return !open_.empty(); }
  unsigned workers() const { return workers_; }  // of all that are not closed
  unsigned ours() const { return ours_; }        // jobs at all of them

 private:
  // Members that can be drawn by chance.
  class Set {
   public:
    void put(Pilot pilot, bool in);
    bool empty() const { return members_.empty(); }
    size_t size() const { return members_.size(); }
    Pilot at(size_t index) const { return members_[index]; }

   private:
    std::vector<Pilot> members_;
    std::unordered_map<Pilot, size_t> index_;
  };
  struct Known {
    Load load;
    std::unordered_set<std::string> warm;
  };
  struct Draw;
  void file(Pilot pilot, const Load& load, bool present);
  void draw_from(const Set& set, Draw& draw);
  void consider_all(const Set& set, Draw& draw);
  void consider(Pilot pilot, Draw& draw);

  std::mt19937_64 random_;
  std::unordered_map<Pilot, Known> pilots_;
  Set free_;  // with a worker that has nothing to do
  Set open_;  // that can be given one more
  std::unordered_map<std::string, Set> warm_;
  unsigned workers_ = 0, ours_ = 0;
};

}  // namespace cluster
