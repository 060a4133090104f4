#include "service/jupyter/kernel.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

using nlohmann::json;

// What a step was given, and what it shall say.
struct FakeRun : CellRun {
  explicit FakeRun(CellOrder of) : order(std::move(of)) {}
  runtime::LiveIo::News take() override { return std::exchange(news, {}); }
  std::optional<CellEnd> end() override { return std::exchange(over, std::nullopt); }
  void give(std::string_view text) override { input += text; }
  void interrupt() override { ++interrupts; }
  void withdraw() override { ++withdrawals; }

  CellOrder order;
  runtime::LiveIo::News news;
  std::optional<CellEnd> over;
  std::string input;
  int interrupts = 0, withdrawals = 0;
};

struct FakeCells : Cells {
  sys::Result<std::unique_ptr<CellRun>> start(CellOrder order) override {
    if (!refusal.empty()) return sys::Error::because(refusal);
    auto run = std::make_unique<FakeRun>(std::move(order));
    current = run.get();
    ++started;
    return std::unique_ptr<CellRun>(std::move(run));
  }
  void forget(const std::string& node) override { forgotten.push_back(node); }

  FakeRun* current = nullptr;
  int started = 0;
  std::string refusal;
  std::vector<std::string> forgotten;
};

struct FakeClients : Clients {
  void send(Channel channel, const Message& message) override {
    const bool is_status = message.type() == "status";
    std::string text = message.type();
    if (is_status) text = text_of(message.content, "execution_state");
    if (message.type() == "execute_reply") text += ' ' + text_of(message.content, "status");
    if (message.type() == "error") text += ' ' + text_of(message.content, "ename");
    if (message.type() == "stream") text += ' ' + text_of(message.content, "text");
    if (channel != Channel::kIopub) CHECK(message.identities == std::vector<std::string>{"client"});
    sent.push_back(text);
    if (message.type() == "stream") room -= narrow ? 1 : 0;
    if (message.type() == "input_request") question = text_of(message.header, "msg_id");
  }
  bool has_room() const override { return room > 0; }
  void gather() override {
    if (gathered) std::exchange(gathered, nullptr)();
  }
  std::vector<std::string> take() { return std::exchange(sent, {}); }

  int room = 1;         // for so many pieces of output
  bool narrow = false;  // it is used up
  std::vector<std::string> sent;
  std::string question;
  std::function<void()> gathered;
};

Message message(const std::string& type, json content = json::object()) {
  Message made;
  made.identities = {"client"};
  made.header = {{"msg_id", type}, {"msg_type", type}};
  made.content = std::move(content);
  return made;
}

class Fixture {
 public:
  Fixture() {
    kernel.begin();
    word_ = cells.current->order.source;
    // The first step's source ends with its call of the loader: ..., 'WORD', globals())
    const size_t end = word_.rfind("', True, globals()");
    word_ = word_.substr(word_.rfind('\'', end - 1) + 1);
    word_.resize(word_.find('\''));
    end_step({.node = "first", .label = "OK", .is_fine = true});
    clients.take();
  }
  void execute(const std::string& code) {
    kernel.receive(Channel::kShell, message("execute_request", {{"code", code}}));
  }
  void says(const json& what) {
    const std::string text = what.dump();
    cells.current->news.out += fmt::format("\x1e{}:{}:{}", word_, text.size(), text);
  }
  void end_step(CellEnd end) {
    cells.current->over = std::move(end);
    kernel.look();
  }
  void end_well(const std::string& node) {
    says({{"say", "done"}, {"status", "ok"}});
    end_step({.node = node, .label = "OK", .is_fine = true});
  }

  FakeCells cells;
  FakeClients clients;
  Kernel kernel{{cells, clients, "1"}};

 private:
  std::string word_;
};

using Sent = std::vector<std::string>;

}  // namespace

TEST_CASE("cells follow one another, each from the node of the one before", "[jupyter]") {
  Fixture of;
  of.execute("a = 1");
  of.execute("a");
  CHECK(of.cells.started == 2);
  CHECK(of.cells.current->order.node == "first");
  CHECK(of.kernel.waiting() == 1);
  of.cells.current->news.out = "said\n";
  of.end_well("n1");
  CHECK(of.cells.current->order.node == "n1");
  of.end_well("n2");
  CHECK(of.clients.take() == Sent{"busy", "execute_input", "stream said\n", "execute_reply ok",
                                  "idle", "busy", "execute_input", "execute_reply ok", "idle"});
  CHECK_FALSE(of.kernel.is_busy());
}

TEST_CASE("an error aborts the cells that were sent before it, and no others", "[jupyter]") {
  Fixture of;
  of.execute("raise");
  of.execute("b");
  of.kernel.receive(Channel::kShell, message("kernel_info_request"));
  of.clients.gathered = [&of] { of.execute("on its way"); };
  of.says({{"say", "done"}, {"status", "error"}, {"ename", "E"}, {"evalue", ""}});
  of.end_step({.node = "n1", .label = "OK", .is_fine = true});
  CHECK(of.clients.take() == Sent{"busy", "execute_input", "error E", "execute_reply error", "busy",
                                  "execute_reply aborted", "idle", "busy", "execute_reply aborted",
                                  "idle", "idle", "busy", "kernel_info_reply", "idle"});
  of.execute("c");
  CHECK(of.kernel.is_busy());
  CHECK(of.cells.current->order.node == "n1");
}

TEST_CASE("a cell whose state is not kept leaves the one before", "[jupyter]") {
  Fixture of;
  of.execute("a");
  of.end_well("n1");
  of.clients.take();
  of.execute("while True: pass");
  of.end_step({.label = "TimeoutException", .verdict = "TimeoutException (wall)"});
  CHECK(of.clients.take() ==
        Sent{"busy", "execute_input", "error TimeoutException", "execute_reply error", "idle"});
  of.execute("b");
  CHECK(of.cells.current->order.node == "n1");
}

TEST_CASE("an interrupt is Ctrl-C, the second one ends the cell", "[jupyter]") {
  Fixture of;
  of.kernel.interrupt();
  of.execute("loop");
  of.kernel.interrupt();
  CHECK(of.cells.current->interrupts == 1);
  of.kernel.receive(Channel::kControl, message("interrupt_request"));
  CHECK(of.cells.current->interrupts == 1);
  CHECK(of.cells.current->withdrawals == 1);
  of.end_step({.label = "Cancelled", .is_cancelled = true});
  CHECK(of.clients.take() == Sent{"busy", "execute_input", "busy", "interrupt_reply", "idle",
                                  "error KeyboardInterrupt", "execute_reply error", "idle"});
}

TEST_CASE("an answer goes to the question that waits for it, and to no later one", "[jupyter]") {
  Fixture of;
  of.execute("input()");
  const auto reply = [&of](const std::string& to, const char* text) {
    Message made = message("input_reply", {{"value", text}});
    made.parent = {{"msg_id", to}};
    of.kernel.receive(Channel::kStdin, made);
  };
  reply("", "too early");
  of.says({{"say", "input"}, {"prompt", "? "}});
  of.kernel.look();
  const std::string first = of.clients.question;
  reply(first, "one");
  CHECK(of.cells.current->input == "\"one\"\n");
  of.says({{"say", "input"}, {"prompt", "? "}});
  of.kernel.look();
  reply(first, "late");
  CHECK(of.cells.current->input == "\"one\"\n");
  reply(of.clients.question, "two");
  CHECK(of.cells.current->input == "\"one\"\n\"two\"\n");
}

TEST_CASE("a cell without a number takes the place of the node before it", "[jupyter]") {
  Fixture of;
  of.execute("a");
  of.end_well("n1");
  of.kernel.receive(Channel::kShell,
                    message("execute_request", {{"code", "x"}, {"store_history", false}}));
  of.end_well("n2");
  CHECK(of.cells.forgotten == std::vector<std::string>{"n1"});
  of.execute("%undo");
  of.execute("b");
  CHECK(of.cells.current->order.node == "first");
}

TEST_CASE("what cannot be started is an error of the cell, or the kernel's end", "[jupyter]") {
  Fixture of;
  of.cells.refusal = "the state is gone";
  of.execute("a");
  CHECK(of.clients.take() ==
        Sent{"busy", "execute_input", "error SandboxError", "execute_reply error", "idle"});
  CHECK_FALSE(of.kernel.is_ending());

  Kernel other({of.cells, of.clients, "1"});
  other.begin();
  CHECK(other.is_ending());
  CHECK(other.broken() == "the state is gone");
  of.cells.refusal.clear();
  Kernel third({of.cells, of.clients, "1"});
  third.begin();
  CHECK(third.is_starting());
  of.cells.current->over =
      CellEnd{.label = "MemoryLimitExceeded", .verdict = "MemoryLimitExceeded"};
  third.look();
  CHECK(third.is_ending());
  CHECK(third.broken() == "the interpreter did not begin: MemoryLimitExceeded");
}

TEST_CASE("output waits for clients that take nothing, and the end behind it", "[jupyter]") {
  Fixture of;
  of.execute("a");
  of.clients.take();
  of.clients.narrow = true;
  of.cells.current->news.out = std::string(40'000, 'x');
  of.kernel.look();
  of.end_well("n1");
  CHECK(of.clients.take() == Sent{"stream " + std::string(32'768, 'x')});
  CHECK(of.kernel.is_busy());
  of.kernel.look();
  CHECK(of.clients.take().empty());
  of.clients.room = 1;
  of.kernel.look();
  CHECK(of.clients.take() == Sent{"stream " + std::string(7'232, 'x')});
  of.clients.room = 1;
  of.kernel.look();
  CHECK(of.clients.take() == Sent{"execute_reply ok", "idle"});
}

TEST_CASE("more requests than may wait are aborted", "[jupyter]") {
  Fixture of;
  of.execute("a");
  for (size_t i = 0; i < Kernel::kMostWaiting; ++i) of.execute("b");
  of.clients.take();
  of.execute("one too many");
  CHECK(of.clients.take() == Sent{"busy", "execute_reply aborted", "idle"});
  CHECK(of.kernel.waiting() == Kernel::kMostWaiting);
}

TEST_CASE("a request that is not known is told so", "[jupyter]") {
  Fixture of;
  of.kernel.receive(Channel::kControl, message("debug_request"));
  of.kernel.receive(Channel::kShell, message("comm_msg"));
  CHECK(of.clients.take() == Sent{"busy", "debug_reply", "idle", "busy", "idle"});
}

TEST_CASE("a client ends the kernel, or wants another one", "[jupyter]") {
  Fixture of;
  of.kernel.receive(Channel::kControl, message("shutdown_request", {{"restart", true}}));
  CHECK(of.kernel.is_ending());
  CHECK(of.kernel.is_restart());
  CHECK(of.kernel.broken().empty());
  of.execute("a");
  CHECK_FALSE(of.kernel.is_busy());
}

}  // namespace service::jupyter
