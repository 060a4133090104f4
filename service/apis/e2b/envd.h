#pragma once
// What envd, the daemon in E2B's sandboxes, does for its clients, done by steps of a session: an
// order is a program (envd.py), and its output says what became of it. Pure; requests and outputs
// are untrusted.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/job/result.h"
#include "service/apis/e2b/connect.h"
#include "service/http/request.h"

namespace service {

std::string_view envd_source();  // envd.py

namespace e2b {

// Written to here first, and moved to where they belong by the order.
inline constexpr std::string_view kUploads = ".e2b-upload";
inline constexpr uint64_t kMostRead = uint64_t{16} << 20;  // bytes of a file

struct Order {
  nlohmann::json what;   // {"do": .., ...}
  bool changes = false;  // the sandbox goes on from what it leaves
};

// A call of filesystem.Filesystem.
std::variant<Order, RpcError> read_file_call(std::string_view method, std::string_view message);
// process.Process/Start.
std::variant<Order, RpcError> read_command(std::string_view message);

struct Upload {
  std::string path;
  std::string_view content;
};
// POST /files: a form of files, or the bytes of one.
std::variant<std::vector<Upload>, Response> read_upload(const Request& request);
Order order_of_upload(const std::vector<Upload>& uploads);
// GET /files.
std::variant<Order, Response> read_download(const Request& request);

std::string source_of(const Order& order);
// What its step is called in the log of the session.
std::string note_of(const Order& order);

// What an order has led to.
struct Obeyed {
  std::string_view content;  // a view into the result
  std::string_view behind;   // written after it was told, by programs that a command left
  nlohmann::json told;
};
std::variant<Obeyed, RpcError> read_obeyed(const runtime::JobResult& result);
// What the step has changed could not be kept.
std::optional<RpcError> loss_of(const runtime::JobResult& result);

// The answers to each kind.
Response file_call_response(const runtime::JobResult& result);
Response upload_response(const runtime::JobResult& result);
Response download_response(const runtime::JobResult& result);
// What comes behind the start of a command's stream, but for its last envelope.
std::string start_event(uint64_t pid);
std::string command_events(const runtime::JobResult& result);

// {"code", "message"} with the status that HTTP has for it.
Response files_refusal(const RpcError& error);

}  // namespace e2b
}  // namespace service
