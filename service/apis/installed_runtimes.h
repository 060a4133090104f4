#pragma once
// InstalledRuntimes: the languages that this host can run, as JSON. Asking every tool for its
// version takes a while, so it happens once, on another thread, when the first client wants to
// know. Loop thread only.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/loop/loop.h"

namespace service {

class InstalledRuntimes {
 public:
  // The JSON of GET /v1/runtimes, empty: nobody could be asked; and whether every tool could be
  // asked for it. Called on another thread.
  using Ask = std::function<std::pair<std::string, bool>()>;
  InstalledRuntimes(runtime::Loop& loop, Ask ask) : loop_(loop), ask_(std::move(ask)) {}

  // Calls `use` with the JSON, now or later: an empty list where nobody could be asked.
  void get(std::function<void(const std::string& json)> use);
  // Forgets those who wait.
  void drop_waiting() { waiting_.clear(); }

 private:
  runtime::Loop& loop_;
  const Ask ask_;
  std::string json_;  // empty: not known yet
  std::vector<std::function<void(const std::string&)>> waiting_;
  bool asking_ = false;
};

}  // namespace service
