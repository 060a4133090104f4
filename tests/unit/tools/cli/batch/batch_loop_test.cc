#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "tests/unit/tools/cli/batch/fixture.h"

namespace cli {

TEST_CASE("each line of a batch gets one result with its id", "[cli][batch]") {
  Batch batch;

  auto results =
      batch.run(job_line("a", "1") + job_line("b", "raise ValueError") + job_line("c", "3"));

  REQUIRE(results.size() == 3);
  CHECK(with_id(results, "a")["label"] == "OK");
  CHECK(with_id(results, "b")["label"] == "ValueError");
  CHECK(batch.report.why == BatchLoop::Why::kDone);
  CHECK(batch.report.tally.total() == 3);
  CHECK(batch.report.tally.trouble() == 0);
}

TEST_CASE("a malformed line is one BadJob with its line number, and the rest goes on",
          "[cli][batch]") {
  Batch batch;

  auto results = batch.run("{\"source\": \n" + job_line("b", "1") + "\n  \n{\"surce\": \"x\"}\n");

  REQUIRE(results.size() == 3);
  CHECK(with_id(results, "job-1")["label"] == "BadJob");
  CHECK(with_id(results, "job-1")["by"] == "caller");
  CHECK(with_id(results, "job-1")["detail"]["line"] == 1);
  CHECK(with_id(results, "b")["label"] == "OK");
  CHECK(with_id(results, "job-5")["detail"]["line"] == 5);
  CHECK(batch.report.tally.trouble() == 2);
}

TEST_CASE("a malformed line keeps its id and tag where they can be read", "[cli][batch]") {
  Batch batch;

  auto results = batch.run("{\"id\": \"mine\", \"tag\": [1], \"source\": 7}\n");

  CHECK(results.at(0)["id"] == "mine");
  CHECK(results.at(0)["tag"] == json::array({1}));
}

TEST_CASE("a last line without a newline is a line", "[cli][batch]") {
  Batch batch;

  CHECK(batch.run(R"({"source": "1"})").at(0)["id"] == "job-1");
}

TEST_CASE("with --any-id an id may come again, and each of its jobs has a result", "[cli][batch]") {
  Batch batch;
  batch.ids = JobLines::Ids::kAny;

  auto results = batch.run(job_line("a", "1") + job_line("a", "2") + "{\"source\": 7}\n");

  REQUIRE(results.size() == 3);
  CHECK(batch.report.tally.trouble() == 1);
  CHECK(with_id(results, "job-3")["label"] == "BadJob");
  CHECK(with_id(results, "a")["label"] == "OK");
}

TEST_CASE("a job finds the parts in front of its line, each of them once", "[cli][batch]") {
  Batch batch;
  const std::string call = R"("source": "1", "mode": "call", "func": "f", "inputs": )";
  const std::string part = R"({"$type": "bytes", "part": 0})";

  auto results = batch.run("{\"parts\":[3]}\na\nb{\"id\": \"used\", " + call + "[" + part + "]}\n" +
                           "{\"id\": \"none\", " + call + "[" + part + "]}\n" +
                           "{\"parts\":[1]}\nx{\"id\": \"twice\", " + call + "[" + part + "," +
                           part + "]}\n{\"parts\":[2000000000]}\n");

  REQUIRE(results.size() == 3);
  CHECK(with_id(results, "used")["label"] == "OK");
  CHECK(with_id(results, "none")["detail"]["message"] ==
        "inputs[0][\"part\"]: no such part, or used before");
  CHECK(with_id(results, "twice")["detail"]["message"] ==
        "inputs[1][\"part\"]: no such part, or used before");
}

TEST_CASE("an id that is there twice is BadJob the second time, under a generated id",
          "[cli][batch]") {
  Batch batch;

  auto results = batch.run(job_line("a", "1") + job_line("a", "2"));

  REQUIRE(results.size() == 2);
  CHECK(with_id(results, "a")["label"] == "OK");
  CHECK(with_id(results, "job-2")["label"] == "BadJob");
  CHECK(batch.engine.submitted() == std::vector<std::string>{"a"});
}

TEST_CASE("a generated id never collides with one that was given before", "[cli][batch]") {
  Batch batch;

  auto results = batch.run(job_line("job-2", "1") + "{\"source\": \"2\"}\n");

  CHECK(with_id(results, "job-2")["stdout"]["text"] == "1");
  CHECK(with_id(results, "job-2-generated")["stdout"]["text"] == "2");
}

TEST_CASE("a line that is too long is BadJob and is not kept", "[cli][batch]") {
  Batch batch;
  batch.longest_line = 100;

  auto results = batch.run(job_line("a", std::string(5000, 'x')) + job_line("b", "1"));

  CHECK(with_id(results, "job-1")["label"] == "BadJob");
  CHECK(with_id(results, "b")["label"] == "OK");
}

TEST_CASE("a line can cancel an earlier job, which has a result, and no other", "[cli][batch]") {
  Batch batch;
  batch.write(job_line("a", "hang") + job_line("b", "hang"));
  batch.begin();
  batch.engine.await(2);

  batch.write(R"({"cancel": "nobody"})"
              "\n"
              R"({"cancel":"a"})"
              "\n");
  const json first = batch.next_result();
  batch.write(R"({"cancel": "a"})"
              "\n" +
              job_line("c", "1"));
  const json second = batch.next_result();
  batch.write(R"({"cancel": "b"})"
              "\n");
  batch.end_of_input();
  batch.end();

  CHECK((first["id"] == "a" && first["label"] == "Cancelled"));
  CHECK(second["id"] == "c");
  CHECK(batch.report.tally.total() == 3);
  CHECK(batch.report.why == BatchLoop::Why::kDone);
}

TEST_CASE("a line that cancels has nothing else, and an id", "[cli][batch]") {
  Batch batch;

  auto results = batch.run("{\"cancel\": 7}\n{\"cancel\": \"a\", \"source\": \"1\"}\n");

  REQUIRE(results.size() == 2);
  for (const json& result : results) CHECK(result["label"] == "BadJob");
}

TEST_CASE("a coprocess gets each result before it sends the next job", "[cli][batch]") {
  Batch batch;
  batch.begin();

  for (int i = 0; i < 50; ++i) {
    batch.write(job_line("j" + std::to_string(i), "x"));
    CHECK(batch.next_result()["id"] == "j" + std::to_string(i));
  }
  batch.end_of_input();
  batch.end();

  CHECK(batch.report.why == BatchLoop::Why::kDone);
}

TEST_CASE("an endless input is read only as far as the window", "[cli][batch]") {
  Batch batch(10);
  batch.engine.pause();
  std::string jobs;
  for (int i = 0; i < 200; ++i) jobs += job_line("j" + std::to_string(i), "x");
  batch.write(jobs);
  batch.end_of_input();
  batch.begin();

  batch.engine.await(10);
  size_t while_full = batch.engine.submitted().size();
  batch.engine.unpause();
  size_t results = 0;
  while (results < 200 && batch.next_result().contains("id")) ++results;
  batch.end();

  CHECK(while_full == 10);
  CHECK(results == 200);
}

// A pause in BatchLoop::run(), between take_lines() and ended(), makes a race of this sort certain.
TEST_CASE("room that comes while the loop turns to wait for it is noticed", "[cli][batch]") {
  const bool input_ends = GENERATE(false, true);
  constexpr int kJobs = 2000;  // fit into the pipe
  Batch batch(8);
  std::string jobs;
  for (int i = 0; i < kJobs; ++i) jobs += job_line(std::to_string(i), "x");
  batch.write(jobs);
  if (input_ends) batch.end_of_input();
  batch.begin();

  int results = 0;
  while (results < kJobs && batch.has_output(std::chrono::seconds(10))) {
    batch.next_result();
    ++results;
  }
  batch.interrupt();
  batch.end();

  CAPTURE(input_ends);
  CHECK(results == kJobs);
}

TEST_CASE("a slow reader of results holds back the jobs, and gets them all", "[cli][batch]") {
  Batch batch(8);
  std::string jobs;
  for (int i = 0; i < 100; ++i) jobs += job_line(std::to_string(i), std::string(3000, 'x'));
  batch.longest_line = 1 << 20;
  std::thread writer([&] {
    batch.write(jobs);
    batch.end_of_input();
  });
  batch.begin();

  // 64 KiB of pipe hold some eighteen results; the rest waits for this reader. How many jobs were
  // let in by then depends on how many lines went into each write.
  batch.engine.await(12);
  CHECK(batch.engine.submitted().size() < 60);
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(batch.next_result()["id"].get<std::string>());
  writer.join();
  batch.end();

  CHECK(ids.size() == 100);
}

TEST_CASE("an interrupt keeps finished results and does not write cancelled ones", "[cli][batch]") {
  Batch batch;
  batch.write(job_line("quick", "1") + job_line("stuck", "hang") + job_line("also", "hang"));
  batch.begin();
  batch.engine.await(3);
  json first = batch.next_result();

  sys::Nanoseconds before = sys::monotonic_now();
  batch.interrupt();
  batch.end();

  CHECK(first["id"] == "quick");
  CHECK(batch.results().empty());
  CHECK(batch.report.why == BatchLoop::Why::kInterrupted);
  CHECK(batch.report.tally.total() == 1);
  CHECK(sys::monotonic_now() - before < std::chrono::seconds(1));
}

TEST_CASE("an interrupt ends a batch whose results nobody reads, within a second", "[cli][batch]") {
  Batch batch;
  batch.longest_line = 1 << 20;
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) batch.write(job_line(std::to_string(i), std::string(5000, 'x')));
  });
  batch.begin();
  batch.engine.await(30);
  writer.join();

  sys::Nanoseconds before = sys::monotonic_now();
  batch.interrupt();
  batch.end();

  CHECK(batch.report.why == BatchLoop::Why::kInterrupted);
  CHECK(sys::monotonic_now() - before < std::chrono::seconds(1));
}

TEST_CASE("a reader of results that goes away ends the batch quietly, jobs or not",
          "[cli][batch]") {
  std::signal(SIGPIPE, SIG_IGN);
  Batch batch;
  batch.write(job_line("stuck", "hang"));
  batch.begin();
  batch.engine.await(1);

  batch.output.reader.reset();
  batch.end();

  CHECK(batch.report.why == BatchLoop::Why::kReaderGone);
}

TEST_CASE("a full disk is an error that says so", "[cli][batch]") {
  Batch batch;
  batch.output.writer = sys::open("/dev/full", O_WRONLY).value();

  batch.run(job_line("a", "1"));

  REQUIRE(batch.report.why == BatchLoop::Why::kCannotWrite);
  CHECK(batch.report.error->code() == ENOSPC);
}

TEST_CASE("a resumed batch runs only what has no result, and counts all", "[cli][batch]") {
  Batch batch;
  batch.earlier.by_id["a"] = {"OK", Tally::Kind::kVerdict};
  batch.earlier.by_id["job-3"] = {"BadJob", Tally::Kind::kTrouble};

  auto results = batch.run(job_line("a", "1") + job_line("b", "2") + "junk\n");

  REQUIRE(results.size() == 1);
  CHECK(results[0]["id"] == "b");
  CHECK(batch.engine.submitted() == std::vector<std::string>{"b"});
  CHECK(batch.report.tally.total() == 3);
  CHECK(batch.report.tally.earlier() == 2);
  CHECK(batch.report.tally.trouble() == 1);
}

}  // namespace cli
