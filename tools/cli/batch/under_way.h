#pragma once
// UnderWay: the jobs of a batch that have no result yet, by id, so that a line can take one back.
// Thread-safe: jobs come on the main thread and end on the engine's.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "runtime/job/job.h"

namespace cli {

class UnderWay {
 public:
  using Watch = std::shared_ptr<runtime::JobWatch>;

  // An id may come again; the last job of an id is the one that can be withdrawn.
  Watch add(const std::string& id);
  void remove(const std::string& id, const Watch& watch);
  // False: there is none of this id. The engine is still to be told (Engine::cancel_withdrawn).
  bool withdraw(const std::string& id);
  void withdraw_all();  // likewise

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Watch> last_;  // of each id
  std::unordered_set<Watch> all_;
};

}  // namespace cli
