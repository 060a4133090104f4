#include "service/apis/installed_runtimes.h"

#include <memory>
#include <tuple>

namespace service {

namespace {

constexpr const char* kNoRuntimes = "[]\n";

}  // namespace

void InstalledRuntimes::get(std::function<void(const std::string&)> use) {
  if (!json_.empty()) return use(json_);
  waiting_.push_back(std::move(use));
  if (std::exchange(asking_, true)) return;
  auto told = std::make_shared<std::pair<std::string, bool>>();
  runtime::run_aside(
      loop_, [told, ask = ask_] { *told = ask(); },
      [this, told] {
        auto& [text, is_whole] = *told;
        if (text.empty()) std::tie(text, is_whole) = std::pair(kNoRuntimes, false);
        // Where a tool could not be started the next one who asks gets another answer.
        if (is_whole) json_ = text;
        asking_ = false;
        for (const auto& waiting : std::exchange(waiting_, {})) waiting(text);
      });
}

}  // namespace service
