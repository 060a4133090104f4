// What a kernel of Jupyter reads: its connection file, the frames of messages, and what a cell
// prints, in any pieces. What is taken is well formed; nothing that is printed is lost.

#include "runtime/values/utf8.h"
#include "service/apis/jupyter/protocol.h"
#include "service/jupyter/answers.h"
#include "service/jupyter/markers.h"
#include "service/jupyter/tree_magics.h"
#include "tests/fuzz/input.h"
#include "tools/cli/kernel/connection_file.h"
#include "tools/cli/kernel/wire.h"

namespace {

void check_file(std::string_view text) {
  const auto file = cli::parse_connection_file(text);
  VERIFY(file || !file.error().text().empty());
  if (!file) return;
  VERIFY(!file->key.empty());
  for (const std::string& endpoint : file->endpoints)
    VERIFY(endpoint.starts_with("tcp://") || endpoint.starts_with("ipc://"));
}

// Signed with the key, as nothing else comes to be read.
void check_message(fuzz::Input input) {
  constexpr size_t kParts = 4;
  cli::Frames frames;
  for (size_t identities = input.byte() % 4; identities > 0; --identities)
    frames.push_back(input.text());
  std::vector<std::string> parts;
  while (parts.size() < kParts) parts.emplace_back(input.up_to('\n'));
  frames.emplace_back("<IDS|MSG>");
  frames.push_back(cli::signature_of("key", {parts.begin(), parts.end()}));
  frames.insert(frames.end(), parts.begin(), parts.end());
  const auto message = cli::read_message(frames, "key");
  if (!message) return;
  VERIFY(!message->type().empty());
  const auto again = cli::read_message(cli::write_message(*message, "other"), "other");
  VERIFY(again && again->type() == message->type());
}

// Checks what a client of the service sends, in both forms.
void check_channel_message(std::string_view bytes) {
  namespace jupyter = service::jupyter;
  for (const auto& read :
       {jupyter::read_channel_message(bytes), jupyter::read_binary_message(bytes)}) {
    if (!read) continue;
    VERIFY(!read->message.type().empty() && read->channel != jupyter::Channel::kIopub);
    const std::string text = jupyter::write_channel_message(read->channel, read->message);
    const std::string binary = jupyter::write_binary_message(read->channel, read->message);
    for (const auto& again :
         {jupyter::read_channel_message(text), jupyter::read_binary_message(binary)})
      VERIFY(again && again->message.header == read->message.header);
  }
  const auto start = jupyter::read_start(bytes);
  if (const auto* refused = std::get_if<service::Response>(&start)) VERIFY(refused->status == 400);
}

bool has_text(const nlohmann::json& object, const char* name) {
  return object.at(name).is_string();
}

// Whatever the interpreter says, clients get the protocol's form.
void check_form(const nlohmann::json& said) {
  for (const char* type : {"display_data", "update_display_data", "execute_result"}) {
    const auto content = service::jupyter::output_of(type, said, 1);
    VERIFY(content && content->at("data").is_object() && content->at("metadata").is_object());
  }
  const nlohmann::json ending = service::jupyter::ending_of(said);
  VERIFY(ending.at("status") == "ok" ? ending.at("payload").is_array()
                                     : has_text(ending, "ename") && has_text(ending, "evalue"));
  for (const char* function : {"complete", "inspect", "is_complete"})
    VERIFY(has_text(service::jupyter::answer_of(function, said), "status"));
}

void check_output(fuzz::Input input) {
  std::string printed, expected;
  size_t said = 0;
  service::jupyter::Markers markers("w", {[&](std::string text) {
                                            VERIFY(!text.empty() && runtime::is_utf8(text));
                                            printed += text;
                                          },
                                          [&](const nlohmann::json& object) {
                                            VERIFY(object.is_object());
                                            check_form(object);
                                            ++said;
                                          }});
  while (!input.empty()) {
    const std::string piece = input.text();
    expected += piece;
    markers.take(piece);
  }
  markers.end();
  if (expected.find("\x1ew:") == expected.npos) VERIFY(said == 0);
  if (runtime::is_utf8(expected) && expected.find("\x1ew:") == expected.npos)
    VERIFY(printed == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_file(text);
  check_channel_message(text);
  check_message({data, size});
  check_output({data, size});
  service::StepTree tree;
  if (const auto magic = service::jupyter::tree_magic_of(text))
    (void)service::jupyter::perform(*magic, tree);
  return 0;
}
