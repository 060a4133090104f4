// Messages of the Model Context Protocol: any bytes, as a client over stdio may send them after its
// initialize. Each text gets one answer at most, which is JSON; arguments that were read are within
// their bounds.

#include <nlohmann/json.hpp>

#include "service/apis/mcp/conversation.h"
#include "tests/fuzz/input.h"

namespace {

using namespace service::mcp;

// Every step ends well.
class Obliging : public Interpreter {
 public:
  Ticket begin(std::function<void(Begun)> told) override { return told({"n-0", ""}), 0; }
  Ticket run(const std::string& node, const Json&, Bounds, Told told) override {
    VERIFY(node.starts_with("n-"));
    Ended ended;
    ended.node = "n-1";
    ended.outcome.emplace().ok = true;
    return told(std::move(ended)), 0;
  }
  Ticket run_job(const Json&, Bounds, Told told) override {
    Ended ended;
    ended.outcome.emplace();
    return told(std::move(ended)), 0;
  }
  void withdraw(Ticket) override {}
  void forget(const std::string&) override {}
  void end() override {}
};

void check_call(const Json& params) {
  const auto call = read_call(params);
  VERIFY(call || !call.error().text().empty());
  if (!call) return;
  if (const auto* many = std::get_if<TryMany>(&*call)) {
    VERIFY(!many->codes.empty() && many->codes.size() <= TryMany::kMost);
    VERIFY(!many->keep || *many->keep < many->codes.size());
  }
  if (const auto* file = std::get_if<ReadFile>(&*call))
    VERIFY(file->offset >= 0 && file->length >= 0 && file->length <= ReadFile::kMost);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Incoming incoming = read_messages(text);
  VERIFY(incoming.error != 0 ? !incoming.why.empty() : !incoming.messages.empty());
  for (const Message& message : incoming.messages) check_call(message.params);
  for (const std::string_view version : {kNewestVersion, kVersionWithBatches}) {
    Conversation conversation(std::make_unique<Obliging>(), "1");
    const Json beginning = {{"jsonrpc", "2.0"},
                            {"id", 0},
                            {"method", "initialize"},
                            {"params", {{"protocolVersion", version}}}};
    conversation.receive(read_messages(line_of(beginning)),
                         {[](const std::string&) {}, [](const std::string&) {}});
    size_t answers = 0;
    conversation.receive(incoming, {[](const std::string& line) { VERIFY(Json::accept(line)); },
                                    [&answers](const std::string& line) {
                                      ++answers;
                                      VERIFY(line.empty() || Json::accept(line));
                                      VERIFY(line.find('\n') == line.npos);
                                    }});
    VERIFY(answers == 1);
  }
  return 0;
}
