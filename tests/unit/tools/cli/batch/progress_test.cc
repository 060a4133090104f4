#include "tools/cli/batch/progress.h"

#include <catch2/catch.hpp>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

Tally some() {
  Tally tally;
  for (int i = 0; i < 3; ++i) tally.add("OK", Tally::Kind::kVerdict);
  tally.add("ValueError", Tally::Kind::kVerdict);
  return tally;
}

}  // namespace

TEST_CASE("the bar shows count, share, rate, time left and the running outcomes",
          "[cli][progress]") {
  CHECK(progress_bar({4, 16, 2.0}, some(), 200) ==
        "[======>                 ] 4/16  25 %  2.0/s  ETA 0:06  OK 3  ValueError 1");
}

TEST_CASE("the bar of a pipe counts only, since nobody knows the total", "[cli][progress]") {
  CHECK(progress_bar({4, std::nullopt, 120.4}, some(), 200) == "4 done  120/s  OK 3  ValueError 1");
}

TEST_CASE("the bar never grows past the terminal", "[cli][progress]") {
  CHECK(columns_of(progress_bar({4, 16, 2.0}, some(), 40)) == 40);
}

TEST_CASE("without a terminal progress is a plain line", "[cli][progress]") {
  CHECK(progress_line({4, 16, 2.0}, some()) == "4/16 (25 %), 2.0/s, ETA 0:06: OK 3, ValueError 1");
}

TEST_CASE("the time left is foretold by the later half of the time that was", "[cli][progress]") {
  auto pipe = sys::make_pipe();
  REQUIRE(pipe.ok());
  Tally tally;
  Progress progress(Progress::Kind::kLines, pipe->writer.get(), 2000);
  for (int second = 0; second <= 120; second += 5) {
    const int results = second == 0 ? 0 : second <= 100 ? 50 : 5;
    for (int i = 0; i < results; ++i) tally.add("OK", Tally::Kind::kVerdict);
    progress.tick(std::chrono::seconds(second), tally);
  }
  pipe->writer.reset();

  auto shown = sys::read_all(pipe->reader.get());
  REQUIRE(shown.ok());
  CHECK(shown->substr(shown->rfind("zygo batch")) ==
        "zygo batch: 1020/2000 (51 %), 7.0/s, ETA 2:20: OK 1020\n");
}

TEST_CASE("times are told as a clock", "[cli][progress]") {
  CHECK(format_clock(7) == "0:07");
  CHECK(format_clock(725) == "12:05");
  CHECK(format_clock(10800) == "3:00:00");
}

TEST_CASE("the table sorts by count and gives shares and the rate", "[cli][progress]") {
  Tally tally = some();
  tally.add_earlier("OK", Tally::Kind::kVerdict);

  CHECK(outcome_table(tally, 2.0, Style()) ==
        "outcome         count    share\n"
        "OK                  4   80.0 %\n"
        "ValueError          1   20.0 %\n"
        "4 jobs in 2.0 s, 2.0/s; 1 more were there already");
}

TEST_CASE("names of classes that a program made up cannot fill memory or move the cursor",
          "[cli][progress]") {
  Tally tally;
  for (int i = 0; i < 5000; ++i) tally.add("E" + std::to_string(i), Tally::Kind::kVerdict);
  tally.add("\x1b[2J" + std::string(100000, 'x'), Tally::Kind::kVerdict);

  auto rows = tally.sorted();

  CHECK(rows.size() == Tally::kMostLabels + 1);
  CHECK(rows.front() == std::pair<std::string, size_t>("(other)", 4001));
}

TEST_CASE("lines come every few seconds, and none for a short batch", "[cli][progress]") {
  sys::Pipe pipe = sys::make_pipe().value();
  Progress progress(Progress::Kind::kLines, pipe.writer.get(), 16);

  for (int second = 0; second < 12; ++second) progress.tick(std::chrono::seconds(second), some());
  pipe.writer.reset();

  CHECK(sys::read_all(pipe.reader.get()).value() ==
        "zygo batch: 4/16 (25 %), 0.0/s: OK 3, ValueError 1\n"
        "zygo batch: 4/16 (25 %), 0.0/s: OK 3, ValueError 1\n");
}

TEST_CASE("lines of progress say whose they are", "[cli][progress]") {
  sys::Pipe pipe = sys::make_pipe().value();
  Progress progress(Progress::Kind::kLines, pipe.writer.get(), 16, "zygo certify: load 4");

  for (int second = 0; second < 6; ++second) progress.tick(std::chrono::seconds(second), some());
  pipe.writer.reset();

  CHECK(sys::read_all(pipe.reader.get()).value() ==
        "zygo certify: load 4: 4/16 (25 %), 0.0/s: OK 3, ValueError 1\n");
}

}  // namespace cli
