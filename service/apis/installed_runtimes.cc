#include "service/apis/installed_runtimes.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

#include "service/apis/parsed.h"

namespace service {

namespace {

using nlohmann::json;

constexpr const char* kNoRuntimes = "[]\n";

template <typename T>
void read(const json& object, const char* name, T& value) {
  const auto found = object.find(name);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (found->is_boolean()) value = found->get<bool>();
  } else if (found->is_string()) {
    value = found->get<std::string>();
  }
}

void read(const json& object, const char* name, std::vector<std::string>& values) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return;
  for (const json& value : *found) {
    if (value.is_string()) values.push_back(value.get<std::string>());
  }
}

InstalledRuntime record_of(const json& runtime) {
  InstalledRuntime record;
  read(runtime, "name", record.name);
  read(runtime, "language", record.language);
  read(runtime, "version", record.version);
  read(runtime, "how", record.how);
  read(runtime, "variant_of", record.variant_of);
  read(runtime, "aliases", record.aliases);
  read(runtime, "extensions", record.extensions);
  read(runtime, "available", record.available);
  return record;
}

// The other thread's answer.
struct Told {
  InstalledRuntimes::List list;
  bool is_whole = false;
};

}  // namespace

std::vector<InstalledRuntime> runtimes_in(std::string_view text) {
  std::vector<InstalledRuntime> records;
  const json list = parsed(text);
  if (!list.is_array()) return records;
  for (const json& runtime : list) {
    if (runtime.is_object()) records.push_back(record_of(runtime));
  }
  return records;
}

void InstalledRuntimes::get(Use use) {
  if (!list_.json.empty()) return use(list_);
  waiting_.push_back(std::move(use));
  if (std::exchange(asking_, true)) return;
  auto told = std::make_shared<Told>();
  runtime::run_aside(
      loop_,
      [told, ask = ask_] {
        std::tie(told->list.json, told->is_whole) = ask();
        if (told->list.json.empty()) *told = {.list = {.json = kNoRuntimes, .records = {}}};
        told->list.records = runtimes_in(told->list.json);
      },
      [this, told] {
        // Where a tool could not be started the next one who asks gets another answer.
        if (told->is_whole) list_ = told->list;
        asking_ = false;
        for (const Use& waiting : std::exchange(waiting_, {})) waiting(told->list);
      });
}

}  // namespace service
