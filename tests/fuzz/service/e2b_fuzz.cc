// Requests of E2B's SDKs, and what a step says of an order: any bytes. The first says of which. An
// envelope that is read is the one that would be written; what is read is within its bounds, or an
// answer that is JSON and says why not.

#include <nlohmann/json.hpp>

#include "service/apis/e2b/commands.h"
#include "service/apis/e2b/connect.h"
#include "service/apis/e2b/envd.h"
#include "service/apis/e2b/request.h"
#include "tests/fuzz/input.h"

namespace {

using namespace service::e2b;

void check_refusal(const service::Response& refused) {
  VERIFY(refused.status >= 400 && refused.status < 600);
  VERIFY(!nlohmann::json::parse(refused.body, nullptr, false).is_discarded());
}

template <typename T>
const T* accepted(const std::variant<T, service::Response>& read) {
  if (const auto* refused = std::get_if<service::Response>(&read)) check_refusal(*refused);
  return std::get_if<T>(&read);
}

void check_order(const std::variant<Order, RpcError>& read) {
  if (const auto* error = std::get_if<RpcError>(&read))
    return check_refusal(rpc_error_response(*error));
  const std::string source = source_of(std::get<Order>(read));
  VERIFY(source.find('\n') == source.size() - 1);
}

void stream(std::string_view body) {
  const auto message = message_of(body);
  if (!message) return;
  VERIFY(envelope(*message) == body);
  check_order(read_command(*message));
  const auto signal = read_signal(*message);
  if (const auto* error = std::get_if<RpcError>(&signal)) check_refusal(rpc_error_response(*error));
}

void control(std::string_view body) {
  const auto creation = read_create(body);
  if (const auto* made = accepted(creation)) {
    VERIFY(made->life <= kLongestLife && made->life.count() >= 0);
    VERIFY(made->metadata.is_object());
  }
  accepted(read_life(body));
  const auto forking = read_fork(body);
  if (const auto* forks = accepted(forking))
    VERIFY(forks->count >= 1 && forks->count <= kMostForks);
  accepted(read_snapshot(body));
  accepted(read_execute(body));
  accepted(read_context(body));
}

void upload(std::string_view body) {
  service::Request request;
  request.headers = {{"content-type", "multipart/form-data; boundary=b"}};
  request.body = body;
  const auto read = read_upload(request);
  const auto* uploads = accepted(read);
  if (!uploads) return;
  size_t bytes = 0;
  for (const Upload& each : *uploads) {
    VERIFY(!each.path.empty());
    bytes += each.content.size();
  }
  VERIFY(bytes <= body.size());
}

void outcome(std::string_view output) {
  runtime::JobResult result;
  result.verdict.outcome = runtime::Outcome::kOk;
  result.verdict.by = runtime::By::kProgram;
  result.out.bytes = output;
  const service::Response answer = file_call_response(result);
  VERIFY(!nlohmann::json::parse(answer.body, nullptr, false).is_discarded());
  VERIFY(!command_events(result).empty());
  const service::Response download = download_response(result);
  if (download.status != 200) return check_refusal(download);
  VERIFY(output.starts_with(download.body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t which = input.byte();
  const std::string_view body = input.rest();
  switch (which % 5) {
    case 0:
      stream(body);
      break;
    case 1:
      control(body);
      break;
    case 2:
      upload(body);
      break;
    case 3:
      outcome(body);
      break;
    default:
      for (const char* method : {"Stat", "ListDir", "Move", "WatchDir"})
        check_order(read_file_call(method, body));
  }
  return 0;
}
