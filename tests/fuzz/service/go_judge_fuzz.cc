// go-judge's API: any bytes. The first says what they are: a request, whose jobs are within their
// bounds and whose answers are JSON, also as a message of a WebSocket, a form with a file, or the
// messages of a stream, each after its length.

#include <nlohmann/json.hpp>

#include "runtime/builds/artefact.h"
#include "runtime/cell/output_files.h"
#include "runtime/json/job/job_parts.h"
#include "service/apis/go_judge/fields.h"
#include "service/apis/go_judge/go_judge.h"
#include "service/apis/go_judge/messages.h"
#include "service/apis/go_judge/stream.h"
#include "service/apis/multipart.h"
#include "tests/fuzz/input.h"

namespace {

namespace go_judge = service::go_judge;

// A file named "K" is kept; the host has "/data/1".
go_judge::Places places() {
  go_judge::Places made;
  made.stored = [](const std::string& id) {
    return id == "K" ? std::make_shared<const service::StoredFile>() : nullptr;
  };
  made.executable = [](const std::string&) {
    return sys::Result<std::shared_ptr<const runtime::Artefact>>(
        std::make_shared<const runtime::Artefact>());
  };
  made.local = [](const std::string& path, uint64_t) -> sys::Result<std::string> {
    if (path == "/data/1") return std::string("#!/bin/sh");
    return sys::Error::because("there is no such file");
  };
  made.most = 1 << 20;
  return made;
}

void check_command(const go_judge::Command& command) {
  const runtime::Job& job = command.job;
  VERIFY(job.limits.wall.count() > 0 && job.limits.cpu.count() > 0 && job.limits.pids > 0);
  VERIFY(job.limits.memory.count >= (4 << 20) && !job.source.empty() && job.policy.by_program);
  for (const runtime::InputFile& file : job.files)
    VERIFY(runtime::objection_to_path(file.path) == nullptr);
  runtime::JobResult result;
  result.verdict = {runtime::Outcome::kOk, "", runtime::By::kProgram, {}};
  result.exit = runtime::ExitStatus{};
  for (const go_judge::Wanted& wanted : command.wanted) {
    VERIFY(wanted.path.empty() ||
           runtime::glob_matches(go_judge::glob_of(wanted.path), wanted.path));
    result.files.files.push_back({wanted.path, wanted.name});
  }
  const go_judge::Keep keep = [](const std::string&, std::string) {
    return sys::Result<std::string>("K");
  };
  VERIFY(nlohmann::json::parse(go_judge::result_text(command, result, keep)).is_object());
}

// /ws reads the message and says its id back in JSON, whatever the id is.
void message(std::string_view body) {
  const auto said = go_judge::read_socket_message(body);
  if (!said) return;
  const std::string refusal = go_judge::socket_answer(said->id, go_judge::text_response(400, body));
  VERIFY(nlohmann::json::parse(refusal)["error"].is_string());
  VERIFY(nlohmann::json::parse(go_judge::socket_error("", said->cancel))["results"].is_null());
}

void request(std::string_view body) {
  message(body);
  const auto read = go_judge::read_run(body, places(), {});
  if (const auto* refused = std::get_if<service::Response>(&read)) {
    VERIFY(refused->status == 400 || refused->status == 500);
    VERIFY(nlohmann::json::parse(refused->body).is_string());
    return;
  }
  const auto& good = std::get<go_judge::Request>(read);
  VERIFY(!good.commands.empty() && good.first < good.commands.size() && good.bytes <= 1 << 20);
  for (const go_judge::Command& command : good.commands) check_command(command);
}

void check_results(const service::Goodbye& last) {
  VERIFY(last.code >= 1000 && last.code < 1015 && last.reason.size() <= 123);
  for (const std::string& message : last.messages)
    VERIFY(message.front() == 1 && nlohmann::json::parse(message.substr(1)).is_object());
}

// One job at most, and nothing is understood after a refusal.
void stream(fuzz::Input& input) {
  go_judge::StreamProtocol::House house;
  house.read = [](std::string_view text) {
    return go_judge::read_run(text, places(), {}, go_judge::Streams::kOffered);
  };
  house.run = [](const go_judge::Request& request, const std::shared_ptr<service::Response>&) {
    VERIFY(request.commands.size() == 1 && request.commands[0].job.stdin_bytes.empty());
    check_command(request.commands[0]);
    return service::Dispatcher::Run();
  };
  go_judge::StreamProtocol protocol(std::move(house));
  bool has_job = false;
  while (!input.empty()) {
    const auto size = input.number<uint16_t>();
    const service::Heard heard = protocol.hear({false, std::string(input.take(size))});
    if (heard.refusal) return check_results(*heard.refusal);
    VERIFY(has_job != heard.job.has_value() && protocol.hears_aside() == false);
    if (heard.job) (void)heard.run(nullptr);
    has_job = true;
    for (const auto fd : {runtime::Stream::kStdout, runtime::Stream::kStderr}) {
      const std::string told = protocol.output(fd, heard.input);
      VERIFY(told.empty() || (told[0] == 2 && told.substr(2) == heard.input));
    }
  }
  check_results(protocol.ended({}));
}

void form(std::string_view type, std::string_view body) {
  const auto file = service::file_of_form(type, body, "file");
  if (!file) return;
  VERIFY(file->content.data() >= body.data());
  VERIFY(file->content.data() + file->content.size() <= body.data() + body.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  switch (input.byte() % 4) {
    case 0:
      request(input.rest());
      break;
    case 2:
      stream(input);
      break;
    default:
      const std::string_view type = input.up_to('\n');
      form(type, input.rest());
  }
  return 0;
}
