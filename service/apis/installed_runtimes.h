#pragma once
// InstalledRuntimes: the languages that this host can run, as the JSON of GET /v1/runtimes and as
// records. Asking every tool for its version takes a while, so it happens once, on another thread,
// when the first client wants to know; that thread reads the JSON, too. Loop thread only.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/loop/loop.h"

namespace service {

struct InstalledRuntime {
  std::string name;        // of the template
  std::string language;    // as clients who ask for a version call it; empty: no package
  std::string version;     // as the tool tells it; empty: not known
  std::string how;         // "warm", "compiled" or "executed"
  std::string variant_of;  // the runtime whose tools it calls with other options; empty: none
  std::vector<std::string> aliases, extensions;
  bool available = false;  // every tool that it needs is on this host
};

// The records of the JSON of GET /v1/runtimes. Skips an entry that is not an object; a field that
// is missing or has another type keeps its default. Pure.
std::vector<InstalledRuntime> runtimes_in(std::string_view json);

class InstalledRuntimes {
 public:
  // The JSON of GET /v1/runtimes, empty: nobody could be asked; and whether every tool could be
  // asked for it. Called on another thread.
  using Ask = std::function<std::pair<std::string, bool>()>;
  struct List {
    std::string json;
    std::vector<InstalledRuntime> records;
  };
  using Use = std::function<void(const List&)>;
  InstalledRuntimes(runtime::Loop& loop, Ask ask) : loop_(loop), ask_(std::move(ask)) {}

  // Calls `use` with the list, now or later: an empty one where nobody could be asked.
  void get(Use use);
  // Forgets those who wait.
  void drop_waiting() { waiting_.clear(); }

 private:
  runtime::Loop& loop_;
  const Ask ask_;
  List list_;  // without text: not known yet
  std::vector<Use> waiting_;
  bool asking_ = false;
};

}  // namespace service
