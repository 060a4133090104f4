#pragma once
// A batch on pipes: the test writes job lines, runs the loop (in a thread where it must look
// inside) and reads result lines.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/sys/file.h"
#include "tests/unit/tools/cli/fake_engine.h"
#include "tools/cli/batch/batch_loop.h"

namespace cli {

using nlohmann::json;

inline std::vector<json> parse_lines(const std::string& text) {
  std::vector<json> lines;
  for (size_t start = 0; start < text.size();) {
    size_t end = text.find('\n', start);
    lines.push_back(json::parse(text.substr(start, end - start)));
    start = end + 1;
  }
  return lines;
}

inline std::string job_line(const std::string& id, const std::string& source) {
  return json{{"id", id}, {"source", source}}.dump() + "\n";
}

class Batch {
 public:
  explicit Batch(size_t window = 64) : window_(window) {}
  ~Batch() {
    if (thread_.joinable()) {
      input.writer.reset();
      thread_.join();
    }
  }

  FakeEngine engine;
  sys::Pipe input = sys::make_pipe().value();
  sys::Pipe output = sys::make_pipe().value();
  sys::Pipe stop = sys::make_pipe().value();
  EarlierResults earlier;
  JobLines::Ids ids = JobLines::Ids::kUnique;
  size_t longest_line = 4096;
  BatchLoop::Report report;

  void write(const std::string& text) { REQUIRE(sys::write_all(input.writer.get(), text).ok()); }
  void begin() {
    thread_ = std::thread([this] { loop(); });
  }
  void interrupt() { REQUIRE(sys::write_all(stop.writer.get(), "x").ok()); }
  void end() { thread_.join(); }
  void end_of_input() { input.writer.reset(); }

  // The whole of a small batch.
  std::vector<json> run(const std::string& jobs) {
    write(jobs);
    end_of_input();
    loop();
    return results();
  }
  // The results that are left, once the loop has ended.
  std::vector<json> results() {
    output.writer.reset();
    return parse_lines(sys::read_all(output.reader.get()).value());
  }
  bool has_output(sys::Milliseconds patience) const {
    pollfd entry{output.reader.get(), POLLIN, 0};
    return ::poll(&entry, 1, static_cast<int>(patience.count())) > 0;
  }
  // One line, as a coprocess reads it.
  json next_result() {
    std::string line;
    for (char c = 0; ::read(output.reader.get(), &c, 1) == 1 && c != '\n';) line += c;
    return json::parse(line);
  }

 private:
  void loop() {
    BatchLoop batch(engine, JobLines({}, std::move(earlier), ids),
                    Progress(Progress::Kind::kNone, 2, std::nullopt), {.jobs = window_});
    report = batch.run({input.reader.get(), output.writer.get(), stop.reader.get()}, longest_line);
  }

  size_t window_;
  std::thread thread_;
};

inline const json& with_id(const std::vector<json>& results, const std::string& id) {
  for (const json& result : results) {
    if (result["id"] == id) return result;
  }
  FAIL("no result of " << id);
  return results.front();
}

}  // namespace cli
