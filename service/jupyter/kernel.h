#pragma once
// Kernel: answers the messages of Jupyter's clients with the steps of one session. It does one
// request after another; those of the control channel are answered at once. It is told of whatever
// happens, and waits for nothing. One thread.

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/jupyter/cells.h"
#include "service/jupyter/channels.h"
#include "service/jupyter/history.h"
#include "service/jupyter/markers.h"
#include "service/sessions/step_tree.h"

namespace service::jupyter {

class Kernel {
 public:
  // Both outlive it.
  struct Parts {
    Cells& cells;
    Clients& clients;
    std::string version;  // zygo's
  };
  explicit Kernel(Parts parts);
  Kernel(const Kernel&) = delete;

  void begin();  // the interpreter
  void receive(Channel channel, Message message);
  void look();  // there is news of the step that runs, or room for what is said next
  void interrupt();

  bool is_starting() const { return work_ && work_->is_first; }
  bool is_busy() const { return work_ != nullptr; }
  bool is_ending() const { return is_ending_; }  // a client wants that, or it could not begin
  bool is_restart() const { return is_restart_; }
  const std::string& broken() const { return broken_; }  // why it could not begin; empty: it could
  // Requests that wait for the one that is being answered.
  size_t waiting() const { return waiting_.size(); }
  // More than these wait for nobody: they are aborted.
  static constexpr size_t kMostWaiting = 4096;

 private:
  using Json = nlohmann::json;

  // A request whose answer comes from a step.
  struct Work {
    Message request;
    Channel channel = Channel::kShell;
    bool is_cell = false;  // its output is shown, and what it does stays
    bool is_first = false;
    bool is_silent = false, is_noted = false, stops_others = false;
    bool was_interrupted = false;
    std::string asked;  // the id of its question to the client, until that has answered
    std::string code;
    int64_t count = 0;
    std::unique_ptr<CellRun> run;
    std::unique_ptr<Markers> out;
    Characters err;
    Waiting new_out, new_err;  // what it wrote, and clients had no room for yet
    std::optional<CellEnd> end;
    std::optional<Json> done;  // what the prelude says at its end
  };

  // kernel.cc: what comes, and what goes.
  void advance();
  bool pass_on(Work& work);
  void answer(Channel channel, Message request);
  void answer_at_once(Channel channel, const Message& request);
  void take_input(const Message& reply);
  void forget_question(Work& work);
  void publish(const std::string& type, const Message& parent, Json content);
  void publish_status(const char* state, const Message& parent);
  void reply(Channel channel, const Message& request, Json content);
  Message message_of(const std::string& type, const Message& parent, Json content) const;

  // kernel_requests.cc: the requests.
  Json kernel_info() const;
  void begin_execute(Channel channel, Message request);
  void begin_question(Channel channel, Message request);
  void move_in_tree(const Work& work);
  void begin(std::unique_ptr<Work> work, const std::string& source);
  void finish(Work& work, const CellEnd& end);
  void finish_cell(Work& work, const CellEnd& end);
  void finish_question(const Work& work);
  void say(Work& work, Json said);
  void ask(Work& work, const Json& said);
  void show(const Message& parent, const char* stream, std::string text);
  bool is_answered_by(const Message& reply) const;
  void take_place(const Work& work, const CellEnd& end);
  void fail(Channel channel, const Message& request, Json error, bool stops_others);
  std::vector<Message> take_cells();
  void abort(const Message& cell);

  const Parts parts_;
  const std::string session_, word_;
  StepTree tree_;
  std::string first_node_;
  std::string python_version_ = "3";
  History history_;
  std::vector<std::shared_ptr<void>> held_;  // of the requests that history has
  int64_t count_ = 0;
  std::unique_ptr<Work> work_;
  std::set<std::string> asked_before_;  // the ids of questions whose cells wait no more
  std::deque<Message> waiting_;         // of the shell, not yet answered
  bool is_telling_ = false;             // of the one before; nothing begins meanwhile
  bool is_ending_ = false, is_restart_ = false;
  std::string broken_;
};

}  // namespace service::jupyter
