#pragma once
// FakeInterpreter: a session in which a step's code is its outcome. "v = ..." and anything else
// ends well and is kept; "loop" is TimeoutException and "thread" OK, and neither is kept; "gone"
// finds its node gone; "wait" ends when it is told to, or withdrawn. A call reads the file "f", of
// 5 bytes.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "service/apis/mcp/interpreter.h"

namespace service::mcp {

// Outlives the interpreter, which belongs to what is tested.
struct FakeWorld {
  std::vector<std::string> begun, forgotten, run_at, jobs, fields;
  std::vector<Interpreter::Ticket> withdrawn;
  std::map<Interpreter::Ticket, std::function<void(bool withdrawn)>> waiting;
  size_t ended = 0, nodes = 0;
  std::string no_beginning;
};

class FakeInterpreter : public Interpreter {
 public:
  explicit FakeInterpreter(FakeWorld& world) : world_(world) {}

  Ticket begin(std::function<void(Begun)> told) override {
    if (!world_.no_beginning.empty()) return told({"", world_.no_beginning}), 0;
    world_.begun.push_back(node());
    return told({world_.begun.back(), ""}), 0;
  }

  Ticket run(const std::string& at, const Json& fields, Bounds bounds, Told told) override {
    world_.run_at.push_back(at);
    world_.fields.push_back(line_of(fields));
    const std::string code = fields.at("source");
    if (code == "gone") {
      Ended ended;
      ended.refusal = "it made room";
      ended.is_gone = true;
      return told(ended), 0;
    }
    if (code != "wait") return told(outcome(code, bounds)), 0;
    const Ticket ticket = ++last_;
    world_.waiting[ticket] = [this, bounds, told](bool withdrawn) {
      told(outcome(withdrawn ? "loop" : "wait", bounds));
    };
    return ticket;
  }

  Ticket run_job(const Json& fields, Bounds bounds, Told told) override {
    world_.jobs.push_back(line_of(fields));
    return told(outcome(fields.at("source"), bounds, false)), 0;
  }

  void withdraw(Ticket ticket) override {
    world_.withdrawn.push_back(ticket);
    if (auto found = world_.waiting.extract(ticket)) found.mapped()(true);
  }
  void forget(const std::string& node) override { world_.forgotten.push_back(node); }
  void end() override { ++world_.ended; }

 private:
  std::string node() { return "n-" + std::to_string(world_.nodes++); }

  Ended outcome(const std::string& code, Bounds bounds, bool is_step = true) {
    Ended ended;
    Outcome& outcome = ended.outcome.emplace();
    outcome.ok = code != "loop";
    outcome.label = outcome.ok ? "OK" : "TimeoutException";
    outcome.why = outcome.ok ? "" : "limit cpu, limit_ms 300, measured_ms 304";
    outcome.out.text = code + "\n";
    if (bounds.wants_result) outcome.result = R"([[5, {"$type": "bytes", "data": "aGVsbG8="}]])";
    if (!is_step) return ended;
    if (outcome.ok && code != "thread")
      ended.node = node();
    else
      ended.why_not = code == "thread" ? "a second thread" : "a step that ends so";
    return ended;
  }

  FakeWorld& world_;
  Ticket last_ = 0;
};

}  // namespace service::mcp
