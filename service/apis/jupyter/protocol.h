#pragma once
// The HTTP and WebSocket API of a Jupyter server and of its kernel gateway: kernels, as JSON, and
// the messages of their channels. Pure; what comes is untrusted.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/units.h"
#include "service/apis/installed_runtimes.h"
#include "service/http/request.h"
#include "service/jupyter/channels.h"

namespace service::jupyter {

inline constexpr std::string_view kUsualSpec = "python3";

// {"message", "reason"}, as a Jupyter server says it.
Response refusal(int status, std::string_view message);
Response json_response(int status, const nlohmann::json& body);

// The kernels that can be started: the service's usual Python, and each of its templates.
nlohmann::json specs_of(const std::vector<InstalledRuntime>& runtimes);

// The body of POST /api/kernels.
struct StartRequest {
  std::string spec{kUsualSpec};
  std::map<std::string, std::string> env = {};  // only KERNEL_..., as the kernel gateway has it
};
std::variant<StartRequest, Response> read_start(std::string_view body);

// The fields of the session's first step; nothing: there is no such kernel. The operator's own
// profile counts; if there is none, cells may start programs.
std::optional<std::string> beginning_of(const StartRequest& request,
                                        const runtime::JobDefaults& defaults);

struct KernelModel {
  std::string id, name;
  std::string_view state;             // "starting", "idle", "busy"
  sys::Milliseconds last_activity{};  // since 1970
  size_t connections = 0;
};
nlohmann::json json_of(const KernelModel& kernel);

// A message on a WebSocket without a subprotocol: one object, with its channel.
struct ChannelMessage {
  Channel channel = Channel::kShell;
  Message message;
  size_t bytes = 0;  // that it takes in memory, about
};
// Nothing: it is none of a client's, or its header is too long.
std::optional<ChannelMessage> read_channel_message(std::string_view text);
std::string write_channel_message(Channel channel, const Message& message);

// The same by the subprotocol kBinary, as its parts: their offsets, as 64-bit numbers that begin
// with the lowest byte, and then the channel, header, parent, metadata, content and buffers. As
// jupyter_server reads and writes it (jupyter_server.services.kernels.connection.base).
inline constexpr std::string_view kBinary = "v1.kernel.websocket.jupyter.org";
std::optional<ChannelMessage> read_binary_message(std::string_view bytes);
std::string write_binary_message(Channel channel, const Message& message);

}  // namespace service::jupyter
