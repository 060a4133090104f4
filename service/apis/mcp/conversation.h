#pragma once
// Conversation: one client of the Model Context Protocol, from initialize on: what it is answered,
// which of its calls run, and what it cancels. The transports bring the messages and take the
// answers away. Loop thread only.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "service/apis/mcp/json_rpc.h"
#include "service/apis/mcp/workbench.h"

namespace service::mcp {

inline constexpr std::string_view kNewestVersion = "2025-06-18";
inline constexpr std::string_view kVersionWithBatches = "2025-03-26";
inline constexpr std::string_view kOldestVersion = "2024-11-05";
bool is_known_version(std::string_view version);
// What an initialize asks for. Null: nothing that one could ask for.
const Json* wanted_version(const Message& initialize);

class Conversation {
 public:
  using Handle = uint64_t;
  // Where the answers to one text go.
  struct Reply {
    std::function<void(std::string)> notify;  // before the answer
    std::function<void(std::string)> answer;  // once; empty: there is none
    // Counts bytes of the answer from here on. False: that is too much. None: nothing is counted.
    std::function<bool(size_t)> hold = nullptr;
  };

  Conversation(std::unique_ptr<Interpreter> interpreter, std::string zygo_version);

  // An answer may come before this returns.
  Handle receive(const Incoming& incoming, Reply reply);
  // Nobody waits for the answers to that text any more: its calls are cancelled.
  void abandon(Handle handle);
  // Everything that waits is answered with an error.
  void close();

  const std::string& version() const { return version_; }  // empty: not initialized
  bool is_busy() const { return !pending_.empty(); }

 private:
  // The messages of one text, and the answers to them so far.
  struct Exchange {
    Handle handle = 0;
    Reply reply;
    bool is_batch = false;
    size_t left = 0;
    std::vector<std::string> answers;
  };
  using ExchangePtr = std::shared_ptr<Exchange>;
  struct Pending {
    Workbench::Key key = 0;
    ExchangePtr exchange;
    Json id;
    bool is_silent = false;  // it was cancelled, and gets no answer
  };

  void handle(const ExchangePtr& exchange, const Message& message, bool in_batch);
  Json initialize(const Message& message);
  void call_tool(const ExchangePtr& exchange, const Message& message);
  void end_call(Workbench::Key key, Json result);
  void note(const Message& message);                             // a notification
  static void settle(const ExchangePtr& exchange, Json answer);  // null: none
  static Workbench::Progress progress_of(const ExchangePtr& exchange, const Message& message);

  const std::string zygo_version_;
  std::string version_;
  Workbench::Key last_ = 0;
  Handle last_handle_ = 0;
  std::map<Workbench::Key, Pending> pending_;
  std::unique_ptr<Workbench> workbench_;  // last: it may answer while it ends
};

}  // namespace service::mcp
