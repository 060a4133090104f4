#include <fmt/format.h>

#include "service/jupyter/answers.h"
#include "service/jupyter/kernel.h"
#include "service/jupyter/prelude.h"
#include "service/jupyter/tree_magics.h"

namespace service::jupyter {

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

bool is_blank(std::string_view code) { return code.find_first_not_of(" \t\r\n") == code.npos; }

// Of a cell whose interpreter could not tell it.
json error_of(const CellEnd& end) {
  if (end.exception && end.was_kept())
    return {{"ename", end.exception->type},
            {"evalue", end.exception->message},
            {"traceback", {end.exception->traceback}}};
  const std::string name = end.is_cancelled ? "KeyboardInterrupt" : end.label;
  std::string words = end.is_cancelled ? "the cell was ended" : end.verdict;
  if (!end.was_kept() && !end.is_lost) words += kAsBefore;
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
          {"protocol_version", kProtocol},
          {"implementation", "zygo"},
          {"implementation_version", parts_.version},
          {"language_info", language},
          {"banner", fmt::format("zygo {}: Python {} in a sandbox; %undo, %branch and %tree move "
                                 "between the states of this session",
                                 parts_.version, python_version_)},
          {"debugger", false},
          {"help_links", json::array()}};
}

void Kernel::begin(std::unique_ptr<Work> work, const std::string& source) {
  Work* const raw = work.get();
  raw->out = std::make_unique<Markers>(
      word_, Markers::Sink{[this, raw](std::string text) {
                             if (raw->is_cell) show(raw->request, "stdout", std::move(text));
                           },
                           [this, raw](json said) { say(*raw, std::move(said)); }});
  const bool keep = work->is_first || (work->is_cell && !is_blank(work->code));
  auto run = parts_.cells.start({tree_.node().empty() ? first_node_ : tree_.node(), source, keep});
  if (run) {
    raw->run = std::move(run).value();
    work_ = std::move(work);
    return;
  }
  if (work->is_first) {
    broken_ = run.error().text();
    return;
  }
  fail(work->channel, work->request, error_of("SandboxError", run.error().text()),
       work->stops_others);
  publish_status("idle", work->request);
}

void Kernel::begin_execute(Channel channel, Message request) {
  const json& content = request.content;
  auto work = std::make_unique<Work>();
  work->channel = channel;
  work->is_cell = true;
  work->code = text_of(content, "code");
  work->is_silent = flag_of(content, "silent", false);
  work->stops_others = flag_of(content, "stop_on_error", true);
  work->is_noted =
      !work->is_silent && flag_of(content, "store_history", true) && !is_blank(work->code);
  if (work->is_noted) history_.add(++count_, work->code);
  if (work->is_noted && request.held) held_.push_back(request.held);
  work->count = count_;
  json execute = {{"code", work->code},
                  {"count", count_},
                  {"silent", work->is_silent},
                  {"noted", work->is_noted},
                  {"may_ask", flag_of(content, "allow_stdin", true)},
                  {"expressions", object_of(content, "user_expressions")}};
  work->request = std::move(request);
  if (!work->is_silent)
    publish("execute_input", work->request, {{"code", work->code}, {"execution_count", count_}});
  if (tree_magic_of(work->code)) return move_in_tree(*work);
  begin(std::move(work), prelude_call("cell", execute));
}

void Kernel::move_in_tree(const Work& work) {
  const TreeAnswer answer = perform(*tree_magic_of(work.code), tree_);
  if (!answer.wrong.empty()) {
    fail(work.channel, work.request, error_of("UsageError", answer.wrong), work.stops_others);
  } else {
    show(work.request, "stdout", answer.text);
    reply(work.channel, work.request,
          {{"status", "ok"},
           {"execution_count", work.count},
           {"payload", json::array()},
           {"user_expressions", json::object()}});
  }
  publish_status("idle", work.request);
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
  else if (std::optional<json> content = output_of(kind, said, work.count))
    publish(kind, work.request, *std::move(content));
}

// Which client, and to which question: a late one to an earlier question is no answer.
bool Kernel::is_answered_by(const Message& reply) const {
  return work_ && !work_->asked.empty() && reply.identities == work_->request.identities &&
         !asked_before_.contains(text_of(reply.parent, "msg_id"));
}

void Kernel::ask(Work& work, const json& said) {
  Message message = message_of(
      "input_request", work.request,
      {{"prompt", text_of(said, "prompt")}, {"password", flag_of(said, "password", false)}});
  message.identities = work.request.identities;
  forget_question(work);
  work.asked = text_of(message.header, "msg_id");
  parts_.clients.send(Channel::kStdin, message);
}

void Kernel::show(const Message& parent, const char* stream, std::string text) {
  if (!text.empty()) publish("stream", parent, {{"name", stream}, {"text", std::move(text)}});
}

void Kernel::fail(Channel channel, const Message& request, json error, bool stops_others) {
  const std::vector<Message> others = stops_others ? take_cells() : std::vector<Message>{};
  error.erase("status");
  publish("error", request, error);
  error["status"] = "error";
  error["execution_count"] = count_;
  error["payload"] = json::array();
  error["user_expressions"] = json::object();
  reply(channel, request, std::move(error));
  for (const Message& cell : others) abort(cell);
}

void Kernel::finish(Work& work, const CellEnd& end) {
  if (!work.is_first) return work.is_cell ? finish_cell(work, end) : finish_question(work);
  first_node_ = end.node;
  if (first_node_.empty()) broken_ = "the interpreter did not begin: " + end.verdict;
  is_ending_ = !broken_.empty();
}

// A cell without a number is no step: what it does belongs to the one before it.
void Kernel::take_place(const Work& work, const CellEnd& end) {
  if (work.is_noted) return tree_.move_on(tree_.add(end.node, work.code, end.label));
  const std::string before = tree_.amend(end.node);
  if (!before.empty()) parts_.cells.forget(before);
}

void Kernel::finish_cell(Work& work, const CellEnd& end) {
  if (end.was_kept()) {
    take_place(work, end);
  } else if (work.done && !end.why_not.empty() && !is_blank(work.code)) {
    show(work.request, "stderr", fmt::format("zygo: not kept: {}{}\n", end.why_not, kAsBefore));
  }
  const bool is_fine = end.is_fine && work.done;
  json ending = is_fine ? ending_of(*work.done) : error_of(end);
  if (text_of(ending, "status") != "ok")
    return fail(work.channel, work.request, std::move(ending), work.stops_others);
  ending["execution_count"] = work.count;
  reply(work.channel, work.request, std::move(ending));
}

void Kernel::finish_question(const Work& work) {
  const std::string type = work.request.type();
  const std::string function = type.substr(0, type.rfind('_'));
  json unanswered = error_of("RuntimeError", "the interpreter did not answer");
  unanswered["status"] = "error";
  reply(work.channel, work.request, answer_of(function, work.done.value_or(unanswered)));
}

// Cells that were sent before their client could know of an error.
std::vector<Message> Kernel::take_cells() {
  parts_.clients.gather();
  std::vector<Message> cells;
  std::deque<Message> others;
  for (Message& message : waiting_) {
    if (message.type() == "execute_request")
      cells.push_back(std::move(message));
    else
      others.push_back(std::move(message));
  }
  waiting_ = std::move(others);
  return cells;
}

void Kernel::abort(const Message& cell) {
  publish_status("busy", cell);
  reply(Channel::kShell, cell,
        {{"status", "aborted"},
         {"execution_count", count_},
         {"ename", ""},
         {"evalue", ""},
         {"traceback", json::array()}});
  publish_status("idle", cell);
}

}  // namespace service::jupyter
