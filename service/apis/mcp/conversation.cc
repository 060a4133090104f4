#include "service/apis/mcp/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace service::mcp {

namespace {

constexpr int kEnded = -32000, kHeldTooMuch = -32001;  // of the server's own codes
constexpr const char* kNotTold =
    "too many bytes are held for this client: what was asked is done, and cannot be told";

constexpr const char* kInstructions =
    "run_python keeps its variables and files from one call to the next. try_many compares "
    "programs "
    "that all go on from the present state; undo goes back. A call that fails at a limit leaves "
    "the "
    "state as it was. There is no network.";

Json id_of_cancelled(const Message& message) {
  const auto id = message.params.find("requestId");
  return id == message.params.end() ? Json() : *id;
}

}  // namespace

bool is_known_version(std::string_view version) {
  return version == kNewestVersion || version == kVersionWithBatches || version == kOldestVersion;
}

const Json* wanted_version(const Message& initialize) {
  const auto wanted = initialize.params.find("protocolVersion");
  return wanted != initialize.params.end() && wanted->is_string() ? &*wanted : nullptr;
}

namespace {

// Titles, structured content and its schemas; batches went with that version.
bool has_structure(std::string_view version) { return version == kNewestVersion; }

}  // namespace

Conversation::Conversation(std::unique_ptr<Interpreter> interpreter, std::string zygo_version)
    : zygo_version_(std::move(zygo_version)),
      workbench_(std::make_unique<Workbench>(std::move(interpreter))) {}

void Conversation::settle(const ExchangePtr& exchange, Json answer) {
  if (!answer.is_null()) {
    std::string text = line_of(answer);
    const auto& hold = exchange->reply.hold;
    if (hold && !hold(text.size())) text = line_of(error_of(answer["id"], kHeldTooMuch, kNotTold));
    exchange->answers.push_back(std::move(text));
  }
  if (--exchange->left > 0) return;
  const auto& answers = exchange->answers;
  std::string text = fmt::format("{}", fmt::join(answers, ","));
  if (exchange->is_batch && !answers.empty()) text = "[" + text + "]";
  exchange->reply.answer(std::move(text));
}

Conversation::Handle Conversation::receive(const Incoming& incoming, Reply reply) {
  auto exchange = std::make_shared<Exchange>();
  exchange->handle = ++last_handle_;
  exchange->reply = std::move(reply);
  exchange->left = 1;
  const Handle handle_of_it = exchange->handle;
  if (incoming.error != 0) {
    settle(exchange, error_of(nullptr, incoming.error, incoming.why));
    return handle_of_it;
  }
  if (incoming.is_batch && has_structure(version_)) {
    settle(exchange,
           error_of(nullptr, kInvalidRequest, "this version of the protocol has no batches"));
    return handle_of_it;
  }
  exchange->is_batch = incoming.is_batch;
  exchange->left = incoming.messages.size() + 1;
  for (const Message& message : incoming.messages) handle(exchange, message, incoming.is_batch);
  settle(exchange, nullptr);
  return handle_of_it;
}

void Conversation::handle(const ExchangePtr& exchange, const Message& message, bool in_batch) {
  const auto refuse = [&exchange, &message](int code, std::string_view why) {
    settle(exchange, error_of(message.id, code, why));
  };
  switch (message.kind) {
    case Message::Kind::kInvalid:
      return refuse(kInvalidRequest, message.why);
    case Message::Kind::kResponse:  // nothing was asked
      return settle(exchange, nullptr);
    case Message::Kind::kNotification:
      note(message);
      return settle(exchange, nullptr);
    case Message::Kind::kRequest:
      break;
  }
  if (message.method == "ping") return settle(exchange, answer_of(message.id, Json::object()));
  if (message.method == "initialize") {
    if (in_batch) return refuse(kInvalidRequest, "initialize is not sent in a batch");
    return settle(exchange, initialize(message));
  }
  if (version_.empty()) return refuse(kInvalidRequest, "the first request is initialize");
  if (message.method == "tools/list")
    return settle(exchange, answer_of(message.id, tool_list(has_structure(version_))));
  if (message.method == "tools/call") return call_tool(exchange, message);
  refuse(kMethodNotFound, "there is no method " + message.method);
}

Json Conversation::initialize(const Message& message) {
  const Json* wanted = wanted_version(message);
  if (!wanted) return error_of(message.id, kInvalidParams, "protocolVersion: expected a string");
  const std::string version = wanted->get<std::string>();
  version_ = is_known_version(version) ? version : std::string(kNewestVersion);
  Json server = {{"name", "zygo"}, {"version", zygo_version_}};
  if (has_structure(version_)) server["title"] = "zygo: sandboxed Python";
  return answer_of(message.id, {{"protocolVersion", version_},
                                {"capabilities", {{"tools", {{"listChanged", false}}}}},
                                {"serverInfo", std::move(server)},
                                {"instructions", kInstructions}});
}

Workbench::Progress Conversation::progress_of(const ExchangePtr& exchange, const Message& message) {
  const auto meta = message.params.find("_meta");
  if (meta == message.params.end() || !meta->is_object()) return nullptr;
  const auto token = meta->find("progressToken");
  if (token == meta->end() || (!token->is_string() && !token->is_number_integer())) return nullptr;
  return [exchange, token = *token](size_t done, size_t of) {
    const Json params = {{"progressToken", token}, {"progress", done}, {"total", of}};
    exchange->reply.notify(line_of(notification_of("notifications/progress", params)));
  };
}

void Conversation::call_tool(const ExchangePtr& exchange, const Message& message) {
  auto call = read_call(message.params);
  if (!call) {
    return settle(exchange, error_of(message.id, kInvalidParams, call.error().text()));
  }
  const bool is_known = std::ranges::any_of(pending_, [&message](const auto& each) {
    return each.second.id == message.id && !each.second.is_silent;
  });
  if (is_known) {
    return settle(exchange,
                  error_of(message.id, kInvalidRequest, "id: a request of this id runs already"));
  }
  const Workbench::Key key = ++last_;
  pending_.emplace(key, Pending{key, exchange, message.id, false});
  workbench_->start(key, *std::move(call), progress_of(exchange, message),
                    [this, key](Json result) { end_call(key, std::move(result)); });
}

void Conversation::end_call(Workbench::Key key, Json result) {
  auto ended = pending_.extract(key);
  if (ended.empty()) return;
  Pending& pending = ended.mapped();
  if (pending.is_silent) return settle(pending.exchange, nullptr);
  if (!has_structure(version_)) result.erase("structuredContent");
  settle(pending.exchange, answer_of(pending.id, std::move(result)));
}

void Conversation::note(const Message& message) {
  if (message.method != "notifications/cancelled") return;
  const Json id = id_of_cancelled(message);
  for (auto& [key, pending] : pending_) {
    if (pending.id != id || pending.is_silent) continue;
    pending.is_silent = true;
    return workbench_->cancel(key);
  }
}

void Conversation::abandon(Handle handle) {
  std::vector<Workbench::Key> keys;
  for (auto& [key, pending] : pending_) {
    if (pending.exchange->handle != handle) continue;
    pending.is_silent = true;
    keys.push_back(key);
  }
  for (const Workbench::Key key : keys) workbench_->cancel(key);
}

void Conversation::close() {
  for (auto& [key, pending] : std::exchange(pending_, {}))
    settle(pending.exchange,
           pending.is_silent ? Json() : error_of(pending.id, kEnded, "the session has ended"));
}

}  // namespace service::mcp
