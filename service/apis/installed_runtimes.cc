#include "service/apis/installed_runtimes.h"

#include <memory>

namespace service {

void InstalledRuntimes::get(std::function<void(const std::string&)> use) {
  if (!json_.empty()) return use(json_);
  waiting_.push_back(std::move(use));
  if (std::exchange(asking_, true)) return;
  auto told = std::make_shared<std::pair<std::string, bool>>();
  runtime::run_aside(
      loop_, [told, ask = ask_] { *told = ask(); },
      [this, told] {
        const auto& [text, is_whole] = *told;
        // Where a tool could not be started the next one who asks gets another answer.
        if (is_whole) json_ = text;
        asking_ = false;
        for (const auto& waiting : std::exchange(waiting_, {})) waiting(text);
      });
}

}  // namespace service
