#include "service/apis/jupyter/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sandbox/sys/utc.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::jupyter {

using nlohmann::json;

namespace {

constexpr int kDeepest = 16;  // of what a client says
// Somebody waits for a cell, and thinks: the service's usual limit may be one for graders.
constexpr sys::Milliseconds kUsualWait{60'000};
constexpr std::string_view kEnvPrefix = "KERNEL_";

// As they are named in a message.
constexpr std::array<std::pair<std::string_view, Channel>, 4> kNames{
    {{"shell", Channel::kShell},
     {"iopub", Channel::kIopub},
     {"stdin", Channel::kStdin},
     {"control", Channel::kControl}}};

std::optional<Channel> channel_of(std::string_view name) {
  for (const auto& [known, channel] : kNames) {
    if (known == name && channel != Channel::kIopub) return channel;
  }
  return std::nullopt;
}

std::string_view name_of(Channel channel) {
  for (const auto& [name, known] : kNames) {
    if (known == channel) return name;
  }
  return "";
}

json spec_of(std::string_view name, const std::string& display_name) {
  return {{"name", name},
          {"spec",
           {{"argv", json::array()},
            {"env", json::object()},
            {"display_name", display_name},
            {"language", "python"},
            {"interrupt_mode", "message"},
            {"metadata", {{"debugger", false}}}}},
          {"resources", json::object()}};
}

json object_in(const json& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_object() ? *found : json::object();
}

bool is_python(std::string_view name) { return name.starts_with("python"); }

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The fields that clients look for in the header of an answer. Each message about the request
// repeats them, so they are short. Nothing: one of them is too long.
std::optional<json> short_header(const json& said) {
  constexpr size_t kLongest = 200;
  json header = json::object();
  for (const char* field : {"msg_id", "msg_type", "session", "username", "date", "version"}) {
    std::string text = text_of(said, field);
    if (text.size() > kLongest) return std::nullopt;
    if (said.contains(field)) header[field] = std::move(text);
  }
  return header;
}

// Each value of a tree is a node of a map or an element of an array, and each container a block.
size_t bytes_of(const json& value) {
  constexpr size_t kNode = 96;
  size_t bytes = kNode;
  if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  if (value.is_structured()) {
    for (const auto& [name, part] : value.items()) bytes += name.size() + bytes_of(part);
  }
  return bytes;
}

std::optional<ChannelMessage> message_of(std::string_view channel_name, const json& header,
                                         const json& parent, json content) {
  const std::optional<Channel> channel = channel_of(channel_name);
  if (!channel || !header.is_object() || !parent.is_object() || !content.is_object())
    return std::nullopt;
  std::optional<json> short_one = short_header(header), short_parent = short_header(parent);
  if (!short_one || !short_parent || text_of(*short_one, "msg_type").empty()) return std::nullopt;
  ChannelMessage read;
  read.channel = *channel;
  read.message.header = *std::move(short_one);
  read.message.parent = *std::move(short_parent);
  read.bytes = bytes_of(content);
  read.message.content = std::move(content);
  return read;
}

std::optional<uint64_t> number_at(std::string_view bytes, size_t index) {
  constexpr size_t kSize = sizeof(uint64_t);
  if (bytes.size() / kSize <= index) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = kSize; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[index * kSize + i]);
  return number;
}

void append_number(uint64_t number, std::string& bytes) {
  for (size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

}  // namespace

Response json_response(int status, const json& body) {
  return {.status = status, .body = dumped(body) + "\n"};
}

Response refusal(int status, std::string_view message) {
  return json_response(status, {{"message", message}, {"reason", nullptr}});
}

json specs_of(const std::vector<InstalledRuntime>& runtimes) {
  json specs = {{kUsualSpec, spec_of(kUsualSpec, "Python 3 (zygo)")}};
  for (const InstalledRuntime& runtime : runtimes) {
    const std::string& name = runtime.name;
    if (is_python(name) && runtime.how == "warm" && runtime.available && name != kUsualSpec)
      specs[name] = spec_of(name, fmt::format("{} (zygo)", name));
  }
  return {{"default", kUsualSpec}, {"kernelspecs", std::move(specs)}};
}

std::variant<StartRequest, Response> read_start(std::string_view body) {
  StartRequest read;
  if (trimmed(body).empty()) return read;
  const json fields = parsed(body);
  if (!fields.is_object()) return refusal(400, "the body: expected an object of JSON");
  const auto name = fields.find("name");
  if (name != fields.end() && !name->is_null()) {
    if (!name->is_string()) return refusal(400, "name: expected a string");
    if (!name->get_ref<const std::string&>().empty()) read.spec = *name;
  }
  const json env = object_in(fields, "env");
  for (const auto& [key, value] : env.items()) {
    if (key.starts_with(kEnvPrefix) && value.is_string()) read.env[key] = value;
  }
  return read;
}

std::optional<std::string> beginning_of(const StartRequest& request,
                                        const runtime::JobDefaults& defaults) {
  const bool is_usual = request.spec == kUsualSpec || request.spec == "zygo";
  if (!is_usual && !is_python(request.spec)) return std::nullopt;
  const runtime::Limits& limits = defaults.job.limits;
  nlohmann::ordered_json fields = {
      {"template", is_usual ? python_template(defaults) : request.spec},
      {"limits",
       {{"wall_ms", std::max(limits.wall, kUsualWait).count()},
        {"cpu_ms", std::max(limits.cpu, kUsualWait).count()}}}};
  if (!defaults.job.policy.has_profile) fields["policy"] = {{"profile", "subprocess"}};
  if (!request.env.empty()) fields["env"] = request.env;
  return line_of(fields);
}

json json_of(const KernelModel& kernel) {
  return {{"id", kernel.id},
          {"name", kernel.name},
          {"last_activity", sys::utc_text(kernel.last_activity)},
          {"execution_state", kernel.state},
          {"connections", kernel.connections}};
}

std::optional<ChannelMessage> read_channel_message(std::string_view text) {
  const json object = parsed(text, kDeepest);
  if (!object.is_object()) return std::nullopt;
  // Some clients name no channel, and mean the one for requests, as a Jupyter server takes it.
  const bool is_named = object.contains("channel") && !object["channel"].is_null();
  return message_of(is_named ? text_of(object, "channel") : "shell", object_in(object, "header"),
                    object_in(object, "parent_header"), object_in(object, "content"));
}

std::string write_channel_message(Channel channel, const Message& message) {
  return dumped({{"channel", name_of(channel)},
                 {"header", message.header},
                 {"msg_id", text_of(message.header, "msg_id")},
                 {"msg_type", message.type()},
                 {"parent_header", message.parent},
                 {"metadata", json::object()},
                 {"content", message.content},
                 {"buffers", json::array()}});
}

std::optional<ChannelMessage> read_binary_message(std::string_view bytes) {
  constexpr size_t kParts = 5;  // without buffers, which nobody here takes
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at <= kParts + 1; ++at) {
    const auto number = number_at(bytes, at);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.front() < kParts + 1) return std::nullopt;
  std::array<std::string_view, kParts> parts;
  for (size_t i = 0; i < kParts; ++i) {
    const uint64_t begin = numbers[i + 1], end = numbers[i + 2];
    if (begin > end || end > bytes.size()) return std::nullopt;
    parts[i] = bytes.substr(begin, end - begin);
  }
  return message_of(parts[0], parsed(parts[1], kDeepest), parsed(parts[2], kDeepest),
                    parsed(parts[4], kDeepest));
}

std::string write_binary_message(Channel channel, const Message& message) {
  const std::array<std::string, 5> parts{std::string(name_of(channel)), dumped(message.header),
                                         dumped(message.parent), "{}", dumped(message.content)};
  std::string bytes;
  append_number(parts.size() + 1, bytes);
  uint64_t offset = (parts.size() + 2) * sizeof(uint64_t);
  append_number(offset, bytes);
  for (const std::string& part : parts) append_number(offset += part.size(), bytes);
  for (const std::string& part : parts) bytes += part;
  return bytes;
}

}  // namespace service::jupyter
