#pragma once
// Kernel: answers one Jupyter client's messages, with the steps of one session. It does one request
// after another; those of the control channel are answered at once. One thread.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/kernel/cell_run.h"
#include "tools/cli/kernel/history.h"
#include "tools/cli/kernel/markers.h"
#include "tools/cli/kernel/sockets.h"
#include "tools/cli/session/step_tree.h"

namespace cli {

class Kernel {
 public:
  struct Parts {
    runtime::Engine& engine;
    runtime::Job common;  // what all steps have
    Sockets& sockets;
    std::string key;
    std::vector<int> ends;  // descriptors: the kernel ends when one can be read
  };
  explicit Kernel(Parts parts);
  // Until it is told to end. An error: it cannot begin.
  sys::Result<void> run();

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
    std::optional<Json> done;  // what the prelude says at its end
  };

  // kernel.cc: what comes, and what goes.
  void take_messages();
  void receive(Channel channel, const Frames& frames);
  void answer(Channel channel, Message request);
  void interrupt();
  void look_at_work();
  void publish(const std::string& type, const Message& parent, Json content);
  void publish_status(const char* state, const Message& parent);
  void reply(Channel channel, const Message& request, Json content);
  Message message_of(const std::string& type, const Message& parent, Json content) const;

  // kernel_requests.cc: the requests.
  Json kernel_info() const;
  void begin_first();
  void begin_execute(Channel channel, Message request);
  void begin_question(Channel channel, Message request);
  void move_in_tree(const Work& work);
  void begin(std::unique_ptr<Work> work, const std::string& source);
  void finish(Work& work, const runtime::JobResult& result);
  void finish_cell(Work& work, const runtime::JobResult& result);
  void finish_question(const Work& work);
  void say(Work& work, Json said);
  void ask(Work& work, const Json& said);
  void show(const Message& parent, const char* stream, std::string text);
  bool is_answered_by(const Message& reply) const;
  void take_place(const Work& work, const runtime::JobResult& result);
  void fail(Channel channel, const Message& request, Json error, bool stops_others);
  std::vector<Message> take_cells();
  void abort(const std::vector<Message>& cells);

  Parts parts_;
  const std::string session_, word_;
  StepTree tree_;
  std::string first_node_;
  std::string python_version_ = "3";
  History history_;
  int64_t count_ = 0;
  size_t jobs_ = 0;
  std::unique_ptr<Work> work_;
  std::set<std::string> asked_before_;  // the ids of questions whose cells wait no more
  std::deque<Message> waiting_;         // of the shell, taken from it and not yet answered
  bool is_ending_ = false;
  std::string broken_;  // why it cannot begin
};

}  // namespace cli
