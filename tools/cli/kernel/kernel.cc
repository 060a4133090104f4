#include "tools/cli/kernel/kernel.h"

#include <fmt/format.h>

#include "sandbox/sys/random.h"
#include "sandbox/sys/utc.h"
#include "tools/cli/text.h"

namespace cli {

namespace {

constexpr const char* kProtocol = "5.3";

std::string random_word() {
  return fmt::format("{:016x}{:016x}", sys::random_number(), sys::random_number());
}

}  // namespace

Kernel::Kernel(Parts parts)
    : parts_(std::move(parts)), session_(random_word()), word_(random_word()) {}

sys::Result<void> Kernel::run() {
  publish_status("starting", {});
  begin_first();
  while (!is_ending_) {
    std::vector<Sockets::Watched> others;
    for (const int fd : parts_.ends) others.push_back({fd, ZMQ_POLLIN});
    if (work_) others.push_back({work_->run->fd(), ZMQ_POLLIN});
    if (work_) others.push_back({work_->run->input_fd(), ZMQ_POLLOUT});
    parts_.sockets.wait(others, !work_);
    for (size_t i = 0; i < parts_.ends.size(); ++i) is_ending_ = is_ending_ || others[i].ready;
    if (is_ending_) break;
    look_at_work();
    take_messages();
  }
  if (!broken_.empty()) return sys::Error::because(broken_);
  return {};
}

void Kernel::take_messages() {
  while (const auto frames = parts_.sockets.receive(Channel::kControl)) {
    receive(Channel::kControl, *frames);
    if (is_ending_) return;
  }
  while (const auto frames = parts_.sockets.receive(Channel::kStdin))
    receive(Channel::kStdin, *frames);
  while (!work_ && !is_ending_) {
    if (!waiting_.empty()) {
      Message next = std::move(waiting_.front());
      waiting_.pop_front();
      answer(Channel::kShell, std::move(next));
      continue;
    }
    const auto frames = parts_.sockets.receive(Channel::kShell);
    if (!frames) return;
    receive(Channel::kShell, *frames);
  }
}

void Kernel::receive(Channel channel, const Frames& frames) {
  sys::Result<Message> message = read_message(frames, parts_.key);
  if (!message) return write_error_line("zygo kernel: " + message.error().text());
  if (channel != Channel::kStdin) return answer(channel, std::move(message).value());
  if (message->type() != "input_reply" || !is_answered_by(*message)) return;
  asked_before_.insert(std::exchange(work_->asked, ""));
  work_->run->give(Json(text_of(message->content, "value")).dump() + "\n");
}

void Kernel::answer(Channel channel, Message request) {
  const std::string type = request.type();
  publish_status("busy", request);
  if (channel == Channel::kShell && type == "execute_request")
    return begin_execute(channel, std::move(request));
  const bool is_question =
      type == "complete_request" || type == "inspect_request" || type == "is_complete_request";
  if (channel == Channel::kShell && is_question) return begin_question(channel, std::move(request));
  if (type == "kernel_info_request") reply(channel, request, kernel_info());
  if (type == "history_request") reply(channel, request, history_.answer(request.content));
  if (type == "comm_info_request")
    reply(channel, request, {{"status", "ok"}, {"comms", Json::object()}});
  if (type == "comm_open")  // nobody here listens
    publish("comm_close", request,
            {{"comm_id", text_of(request.content, "comm_id")}, {"data", Json::object()}});
  if (type == "interrupt_request") {
    reply(channel, request, {{"status", "ok"}});
    interrupt();
  }
  if (type == "shutdown_request") {
    const bool restart = flag_of(request.content, "restart", false);
    reply(channel, request, {{"status", "ok"}, {"restart", restart}});
    is_ending_ = true;
  }
  publish_status("idle", request);
}

// As Ctrl-C first, which the cell may make use of; who insists ends it.
void Kernel::interrupt() {
  if (!work_ || work_->is_first) return;
  std::exchange(work_->was_interrupted, true) ? work_->run->withdraw() : work_->run->interrupt();
}

void Kernel::look_at_work() {
  if (!work_) return;
  work_->run->write_on();
  work_->run->heed();
  // Before the output is taken: all of it is there when the result is.
  const std::optional<runtime::JobResult> result = work_->run->result();
  const runtime::LiveIo::News news = work_->run->take();
  if (work_->is_cell) show(work_->request, "stderr", work_->err.take(news.err));
  work_->out->take(news.out);
  if (!result) return;
  work_->out->end();
  if (work_->is_cell) show(work_->request, "stderr", work_->err.end());
  const std::unique_ptr<Work> work = std::move(work_);
  if (!work->asked.empty()) asked_before_.insert(work->asked);
  finish(*work, *result);
  if (!work->is_first) publish_status("idle", work->request);
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
  parts_.sockets.send(Channel::kIopub, write_message(message, parts_.key));
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
  parts_.sockets.send(channel, write_message(message, parts_.key));
}

}  // namespace cli
