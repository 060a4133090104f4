#include "cluster/wire/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/values/utf8.h"

namespace cluster {

namespace {

// One that runs more than this would make one mistake expensive; no machine has so many cores.
constexpr uint32_t kMostWorkers = 4096;
constexpr size_t kMostTemplates = 4096;

}  // namespace

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {
      "?",     "hello",      "welcome",  "alive",    "status",  "runtimes",
      "start", "start pair", "withdraw", "signal",   "input",   "taken",
      "began", "news",       "result",   "returned", "draining"};
  const auto index = static_cast<size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

bool is_name(std::string_view text) {
  const bool is_clean =
      std::ranges::none_of(text, [](unsigned char each) { return each < 0x20 || each == 0x7f; });
  return text.size() <= kLongestName && is_clean && runtime::is_utf8(text);
}

std::string objection_to(const Hello& hello) {
  if (hello.magic != kMagic) return "it does not speak as a zygo does";
  if (hello.workers == 0 || hello.workers > kMostWorkers)
    return fmt::format("workers: expected 1 to {}", kMostWorkers);
  if (hello.level > static_cast<uint8_t>(sandbox::Level::kMinimal))
    return "level: there is no such";
  if (hello.templates.size() > kMostTemplates) return "templates: too many";
  const bool is_named = !hello.name.empty() && is_name(hello.name) && is_name(hello.engine) &&
                        is_name(hello.zygo) && std::ranges::all_of(hello.templates, is_name);
  if (!is_named) return fmt::format("its names: expected 1 to {} bytes of text", kLongestName);
  return {};
}

uint16_t common_version(uint16_t oldest, uint16_t newest) {
  const uint16_t common = std::min(newest, kNewestVersion);
  return common >= std::max(oldest, kOldestVersion) ? common : uint16_t{0};
}

}  // namespace cluster
