#pragma once
// Commands: those that run in sandboxes now, one at most in each, by the numbers that their clients
// know them by. Loop thread only; the reading and writing of messages is pure.

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "service/apis/e2b/connect.h"
#include "service/http/exchange.h"

namespace service::e2b {

class Commands {
 public:
  struct Command {
    uint64_t number = 0;
    nlohmann::json order;  // as read_command() has it
    ExchangePtr exchange;  // by which its client waits for it
  };
  using CommandPtr = std::shared_ptr<Command>;

  // It is its turn: it has a number from now on.
  void begin(const std::string& sandbox, const CommandPtr& command);
  void end(const std::string& sandbox, const CommandPtr& command);
  // Null: none of this number runs there.
  CommandPtr find(const std::string& sandbox, uint64_t number) const;
  // The answer to process.Process/List.
  std::string list(const std::string& sandbox) const;

 private:
  std::map<std::string, CommandPtr> running_;  // by sandbox
  uint64_t last_ = 0;
};

// process.Process/SendSignal: the number of a command that is to end. Only signals that end one are
// offered, as a step cannot be told any other.
std::variant<uint64_t, RpcError> read_signal(std::string_view message);

}  // namespace service::e2b
