#include "service/jupyter/kernel.h"

#include <fmt/format.h>

#include <utility>

#include "sandbox/sys/random.h"
#include "sandbox/sys/utc.h"
#include "service/jupyter/prelude.h"

namespace service::jupyter {

namespace {

std::string random_word() {
  return fmt::format("{:016x}{:016x}", sys::random_number(), sys::random_number());
}

nlohmann::json not_offered(const std::string& type) {
  return {{"status", "error"},
          {"ename", "NotOffered"},
          {"evalue", type + " is not offered here"},
          {"traceback", nlohmann::json::array()}};
}

}  // namespace

Kernel::Kernel(Parts parts)
    : parts_(std::move(parts)), session_(random_word()), word_(random_word()) {}

void Kernel::begin() {
  publish_status("starting", {});
  auto work = std::make_unique<Work>();
  work->is_first = true;
  begin(std::move(work), prelude_step(word_, Host::kNotebook));
  if (!work_) is_ending_ = true;
}

void Kernel::receive(Channel channel, Message message) {
  if (is_ending_) return;
  if (channel == Channel::kStdin) return take_input(message);
  if (channel != Channel::kShell) return answer(channel, std::move(message));
  if (waiting_.size() >= kMostWaiting) return abort(message);
  waiting_.push_back(std::move(message));
  advance();
}

// One after the other, as far as nothing has to be waited for.
void Kernel::advance() {
  if (is_telling_) return;
  is_telling_ = true;
  while (!work_ && !waiting_.empty() && !is_ending_ && parts_.clients.has_room()) {
    Message next = std::move(waiting_.front());
    waiting_.pop_front();
    answer(Channel::kShell, std::move(next));
  }
  is_telling_ = false;
}

void Kernel::forget_question(Work& work) {
  constexpr size_t kMost = 1000;
  if (asked_before_.size() >= kMost) asked_before_.clear();
  if (!work.asked.empty()) asked_before_.insert(std::exchange(work.asked, ""));
}

void Kernel::take_input(const Message& reply) {
  if (reply.type() != "input_reply" || !is_answered_by(reply)) return;
  forget_question(*work_);
  work_->run->give(Json(text_of(reply.content, "value")).dump() + "\n");
}

void Kernel::answer(Channel channel, Message request) {
  const std::string type = request.type();
  publish_status("busy", request);
  if (channel == Channel::kShell && type == "execute_request")
    return begin_execute(channel, std::move(request));
  const bool is_question =
      type == "complete_request" || type == "inspect_request" || type == "is_complete_request";
  if (channel == Channel::kShell && is_question) return begin_question(channel, std::move(request));
  answer_at_once(channel, request);
  publish_status("idle", request);
}

void Kernel::answer_at_once(Channel channel, const Message& request) {
  const std::string type = request.type();
  if (type == "kernel_info_request") return reply(channel, request, kernel_info());
  if (type == "history_request") return reply(channel, request, history_.answer(request.content));
  if (type == "comm_info_request")
    return reply(channel, request, {{"status", "ok"}, {"comms", Json::object()}});
  if (type == "comm_open")  // nobody here listens
    return publish("comm_close", request,
                   {{"comm_id", text_of(request.content, "comm_id")}, {"data", Json::object()}});
  if (type == "interrupt_request") {
    reply(channel, request, {{"status", "ok"}});
    return interrupt();
  }
  if (type == "shutdown_request") {
    is_restart_ = flag_of(request.content, "restart", false);
    is_ending_ = true;
    return reply(channel, request, {{"status", "ok"}, {"restart", is_restart_}});
  }
  if (type.ends_with("_request")) return reply(channel, request, not_offered(type));
}

// As Ctrl-C first, which the cell may make use of; who insists ends it.
void Kernel::interrupt() {
  if (!work_ || work_->is_first) return;
  std::exchange(work_->was_interrupted, true) ? work_->run->withdraw() : work_->run->interrupt();
}

// A few bytes that a cell writes may be a message of a hundred times as many. False: there is more,
// and no room for it.
bool Kernel::pass_on(Work& work) {
  constexpr size_t kPiece = size_t{32} << 10;
  const auto is_empty = [&work] { return work.new_out.is_empty() && work.new_err.is_empty(); };
  for (;;) {
    if (is_empty()) {
      runtime::LiveIo::News news = work.run->take();
      work.new_out.put(std::move(news.out));
      work.new_err.put(std::move(news.err));
    }
    if (is_empty()) return true;
    if (!parts_.clients.has_room()) return false;
    const std::string_view err = work.new_err.take(kPiece);
    if (work.is_cell) show(work.request, "stderr", work.err.take(err));
    work.out->take(work.new_out.take(kPiece));
  }
}

void Kernel::look() {
  if (!work_) return advance();
  // Before the output is taken: all of it is there when the end is.
  if (!work_->end) work_->end = work_->run->end();
  if (!pass_on(*work_) || !work_->end) return;
  work_->out->end();
  if (work_->is_cell) show(work_->request, "stderr", work_->err.end());
  const std::unique_ptr<Work> work = std::move(work_);
  forget_question(*work);
  is_telling_ = true;
  finish(*work, *work->end);
  publish_status("idle", work->request);
  is_telling_ = false;
  advance();
}

Message Kernel::message_of(const std::string& type, const Message& parent, Json content) const {
  Message made;
  made.header = {{"msg_id", random_word()}, {"username", "zygo"},
                 {"session", session_},     {"date", sys::utc_text(sys::time_since_1970())},
                 {"msg_type", type},        {"version", kProtocol}};
  made.parent = parent.header;
  made.content = std::move(content);
  return made;
}

void Kernel::publish(const std::string& type, const Message& parent, Json content) {
  Message message = message_of(type, parent, std::move(content));
  message.identities = {type};
  parts_.clients.send(Channel::kIopub, message);
}

void Kernel::publish_status(const char* state, const Message& parent) {
  publish("status", parent, {{"execution_state", state}});
}

void Kernel::reply(Channel channel, const Message& request, Json content) {
  std::string type = request.type();
  if (const size_t end = type.rfind("_request"); end != type.npos)
    type.replace(end, type.npos, "_reply");
  Message message = message_of(type, request, std::move(content));
  message.identities = request.identities;
  parts_.clients.send(channel, message);
}

}  // namespace service::jupyter
