#include <fmt/format.h>

#include "runtime/values/value.h"
#include "tools/cli/kernel/kernel.h"
#include "tools/cli/kernel/prelude.h"
#include "tools/cli/kernel/tree_magics.h"
#include "tools/cli/run/verdict_text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {

using nlohmann::json;

namespace {

constexpr const char* kAsBefore = "; variables and files are as they were before this cell";

json error_of(std::string_view name, std::string_view value) {
  return {{"ename", name},
          {"evalue", value},
          {"traceback", {fmt::format("\x1b[0;31m{}\x1b[0m: {}", name, value)}}};
}

json object_of(const json& content, const char* name) {
  const auto found = content.find(name);
  return found != content.end() && found->is_object() ? *found : json::object();
}

bool was_kept(const runtime::JobResult& result) { return result.step && result.step->kept; }

// Of a cell whose interpreter could not tell it.
json error_of(const runtime::JobResult& result) {
  if (result.exception && was_kept(result))
    return {{"ename", result.exception->type},
            {"evalue", result.exception->message},
            {"traceback", {result.exception->traceback}}};
  const bool is_cancelled = result.verdict.outcome == runtime::Outcome::kCancelled;
  const std::string name = is_cancelled ? "KeyboardInterrupt" : result.verdict.label();
  std::string words = is_cancelled ? "the cell was ended" : verdict_line(result, Style{});
  if (!was_kept(result)) words += kAsBefore;
  return error_of(name, words);
}

}  // namespace

json Kernel::kernel_info() const {
  const json language = {{"name", "python"},
                         {"version", python_version_},
                         {"mimetype", "text/x-python"},
                         {"file_extension", ".py"},
                         {"pygments_lexer", "ipython3"},
                         {"codemirror_mode", {{"name", "ipython"}, {"version", 3}}},
                         {"nbconvert_exporter", "python"}};
  return {{"status", "ok"},
          {"protocol_version", "5.3"},
          {"implementation", "zygo"},
          {"implementation_version", ZYGO_VERSION},
          {"language_info", language},
          {"banner", fmt::format("zygo {}: Python {} in a sandbox; %undo, %branch and %tree move "
                                 "between the states of this session",
                                 ZYGO_VERSION, python_version_)},
          {"debugger", false},
          {"help_links", json::array()}};
}

void Kernel::begin(std::unique_ptr<Work> work, const std::string& source) {
  runtime::Job job = parts_.common;
  job.id = fmt::format("cell-{}", ++jobs_);
  job.source = source;
  const std::string& node = tree_.node().empty() ? first_node_ : tree_.node();
  job.session = node.empty() ? runtime::kNewSession : node;
  job.keep = work->is_cell || work->is_first;
  Work* const raw = work.get();
  raw->out = std::make_unique<Markers>(
      word_, Markers::Sink{[this, raw](std::string text) {
                             if (raw->is_cell) show(raw->request, "stdout", std::move(text));
                           },
                           [this, raw](json said) { say(*raw, std::move(said)); }});
  auto run = CellRun::start(parts_.engine, std::move(job));
  if (!run) {
    if (work->is_first) broken_ = run.error().text();
    fail(work->channel, work->request, error_of("SandboxError", run.error().text()));
    return publish_status("idle", work->request);
  }
  raw->run = std::move(run).value();
  work_ = std::move(work);
}

void Kernel::begin_first() {
  auto work = std::make_unique<Work>();
  work->is_first = true;
  begin(std::move(work), prelude_step(word_));
  if (!work_) is_ending_ = true;
}

void Kernel::begin_execute(Channel channel, Message request) {
  const json& content = request.content;
  auto work = std::make_unique<Work>();
  work->channel = channel;
  work->is_cell = true;
  work->code = text_of(content, "code");
  work->is_silent = flag_of(content, "silent", false);
  work->stops_others = flag_of(content, "stop_on_error", true);
  const bool is_noted = !work->is_silent && flag_of(content, "store_history", true) &&
                        work->code.find_first_not_of(" \t\r\n") != std::string::npos;
  if (is_noted) history_.add(++count_, work->code);
  work->count = count_;
  json execute = {{"code", work->code},
                  {"count", count_},
                  {"silent", work->is_silent},
                  {"noted", is_noted},
                  {"may_ask", flag_of(content, "allow_stdin", true)},
                  {"expressions", object_of(content, "user_expressions")}};
  work->request = std::move(request);
  if (!work->is_silent)
    publish("execute_input", work->request, {{"code", work->code}, {"execution_count", count_}});
  if (tree_magic_of(work->code)) return move_in_tree(channel, work->request, execute);
  begin(std::move(work), prelude_call("cell", execute));
}

void Kernel::move_in_tree(Channel channel, const Message& request, const json& execute) {
  const TreeAnswer answer = perform(*tree_magic_of(text_of(execute, "code")), tree_);
  if (!answer.wrong.empty()) {
    fail(channel, request, error_of("UsageError", answer.wrong));
  } else {
    show(request, "stdout", answer.text);
    reply(channel, request,
          {{"status", "ok"},
           {"execution_count", execute["count"]},
           {"payload", json::array()},
           {"user_expressions", json::object()}});
  }
  publish_status("idle", request);
}

void Kernel::begin_question(Channel channel, Message request) {
  const std::string type = request.type();
  const std::string function = type.substr(0, type.rfind('_'));
  auto work = std::make_unique<Work>();
  work->channel = channel;
  const json content = request.content;
  work->request = std::move(request);
  begin(std::move(work), prelude_call(function, content));
}

void Kernel::say(Work& work, json said) {
  const std::string kind = text_of(said, "say");
  said.erase("say");
  if (kind == "done")
    work.done = std::move(said);
  else if (kind == "python")
    python_version_ = text_of(said, "version");
  else if (!work.is_cell)
    return;
  else if (kind == "input")
    ask(work, said);
  else if (kind == "display_data" || kind == "update_display_data" || kind == "clear_output" ||
           kind == "execute_result")
    publish(kind, work.request, std::move(said));
}

void Kernel::ask(Work& work, const json& said) {
  work.is_asking = true;
  Message message = message_of(
      "input_request", work.request,
      {{"prompt", text_of(said, "prompt")}, {"password", flag_of(said, "password", false)}});
  message.identities = work.request.identities;
  parts_.sockets.send(Channel::kStdin, write_message(message, parts_.key));
}

void Kernel::show(const Message& parent, const char* stream, std::string text) {
  if (!text.empty()) publish("stream", parent, {{"name", stream}, {"text", std::move(text)}});
}

void Kernel::fail(Channel channel, const Message& request, json error) {
  error.erase("status");
  publish("error", request, error);
  error["status"] = "error";
  error["execution_count"] = count_;
  error["payload"] = json::array();
  error["user_expressions"] = json::object();
  reply(channel, request, std::move(error));
}

void Kernel::finish(Work& work, const runtime::JobResult& result) {
  if (work.is_first) {
    if (was_kept(result)) first_node_ = result.step->node;
    if (first_node_.empty())
      broken_ = "the interpreter did not begin: " + verdict_line(result, Style{});
    is_ending_ = !broken_.empty();
    return;
  }
  work.is_cell ? finish_cell(work, result) : finish_question(work);
}

void Kernel::finish_cell(Work& work, const runtime::JobResult& result) {
  if (was_kept(result)) {
    tree_.move_on(tree_.add(result.step->node, work.code, result.verdict.label()));
  } else if (work.done && result.step) {
    show(work.request, "stderr",
         fmt::format("zygo: not kept: {}{}\n", result.step->why_not, kAsBefore));
  }
  const bool is_fine = result.verdict.ok() && work.done;
  if (is_fine && text_of(*work.done, "status") == "ok") {
    work.done->update({{"execution_count", work.count}});
    return reply(work.channel, work.request, std::move(*work.done));
  }
  const std::vector<Message> others = work.stops_others ? take_cells() : std::vector<Message>{};
  fail(work.channel, work.request, is_fine ? std::move(*work.done) : error_of(result));
  abort(others);
}

void Kernel::finish_question(const Work& work) {
  json answer = work.done.value_or(json::object());
  if (answer.empty() && work.request.type() == "is_complete_request")
    answer = {{"status", "unknown"}};
  if (answer.empty()) {
    answer = error_of("RuntimeError", "the interpreter did not answer");
    answer["status"] = "error";
  }
  reply(work.channel, work.request, std::move(answer));
}

// Cells that were sent before their client could know of an error.
std::vector<Message> Kernel::take_cells() {
  std::vector<Message> cells;
  while (const auto frames = parts_.sockets.receive(Channel::kShell)) {
    sys::Result<Message> message = read_message(*frames, parts_.key);
    if (!message) continue;
    if (message->type() == "execute_request")
      cells.push_back(std::move(message).value());
    else
      waiting_.push_back(std::move(message).value());
  }
  return cells;
}

void Kernel::abort(const std::vector<Message>& cells) {
  for (const Message& cell : cells) {
    publish_status("busy", cell);
    reply(Channel::kShell, cell,
          {{"status", "aborted"},
           {"execution_count", count_},
           {"ename", ""},
           {"evalue", ""},
           {"traceback", json::array()}});
    publish_status("idle", cell);
  }
}

}  // namespace cli
