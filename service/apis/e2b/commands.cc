#include "service/apis/e2b/commands.h"

#include <charconv>

#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// ProtoJSON has numbers in quotes, too.
std::optional<uint64_t> number_in(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace

void Commands::begin(const std::string& sandbox, const CommandPtr& command) {
  command->number = ++last_;
  running_[sandbox] = command;
}

void Commands::end(const std::string& sandbox, const CommandPtr& command) {
  const auto found = running_.find(sandbox);
  if (found != running_.end() && found->second == command) running_.erase(found);
}

Commands::CommandPtr Commands::find(const std::string& sandbox, uint64_t number) const {
  const auto found = running_.find(sandbox);
  return found != running_.end() && found->second->number == number ? found->second : nullptr;
}

std::string Commands::list(const std::string& sandbox) const {
  ordered_json processes = ordered_json::array();
  if (const auto found = running_.find(sandbox); found != running_.end()) {
    const json& order = found->second->order;
    ordered_json config = {{"cmd", order.at("program")},
                           {"args", order.at("arguments")},
                           {"envs", order.at("variables")}};
    if (order.at("directory") != "") config["cwd"] = order.at("directory");
    processes.push_back({{"config", std::move(config)}, {"pid", found->second->number}});
  }
  return line_of({{"processes", std::move(processes)}});
}

std::variant<uint64_t, RpcError> read_signal(std::string_view text) {
  constexpr int kKill = 9, kTerminate = 15;
  constexpr int kDepth = 4;
  const json message = parsed(text, kDepth);
  if (!message.is_object()) return RpcError{"invalid_argument", "the message is no JSON object"};
  const json signal = message.value("signal", json());
  const bool ends = signal == "SIGNAL_SIGKILL" || signal == "SIGNAL_SIGTERM" || signal == kKill ||
                    signal == kTerminate;
  if (!ends)
    return RpcError{"invalid_argument", "signal: expected SIGNAL_SIGKILL or SIGNAL_SIGTERM"};
  const json process = message.value("process", json());
  const auto part = [&process](const char* name) {
    return process.is_object() ? process.value(name, json()) : json();
  };
  if (!part("tag").is_null()) return RpcError{"not_found", "there is no process with this tag"};
  if (const auto number = number_in(part("pid"))) return *number;
  return RpcError{"invalid_argument", "process.pid: expected the number of a process"};
}

}  // namespace service::e2b
