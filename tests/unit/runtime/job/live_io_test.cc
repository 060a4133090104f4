#include "runtime/job/live_io.h"

#include <unistd.h>

#include <catch2/catch.hpp>

namespace runtime {

TEST_CASE("whoever takes part in a job is woken once for all that has come", "[runtime][live]") {
  int woken = 0;
  const auto live = *LiveIo::create([&woken] { ++woken; });

  live->begin(LiveIo::Stage::kBuilding);
  live->begin(LiveIo::Stage::kRunning);
  live->put(Stream::kStdout, "a");
  live->put(Stream::kStderr, "b");
  live->put(Stream::kStdout, "c");
  CHECK(woken == 1);
  const LiveIo::News news = live->take();
  CHECK(news.stage == LiveIo::Stage::kRunning);
  CHECK(news.out == "ac");
  CHECK(news.err == "b");

  live->put(Stream::kStdout, "d");
  CHECK(woken == 2);
  CHECK(live->take().stage == LiveIo::Stage::kRunning);
}

TEST_CASE("a caller that has left is not woken, and nothing is kept for it", "[runtime][live]") {
  int woken = 0;
  const auto live = *LiveIo::create([&woken] { ++woken; });
  live->put(Stream::kStdout, "a");
  live->leave();
  live->put(Stream::kStdout, "b");
  CHECK(woken == 1);
  CHECK(live->take().out.empty());
}

TEST_CASE("the stdin of a live job ends when its caller lets go", "[runtime][live]") {
  const auto live = *LiveIo::create([] {});
  sys::OwnedFd writer = live->take_writer();
  REQUIRE(::write(writer.get(), "x", 1) == 1);
  writer.reset();
  char byte = 0;
  CHECK(::read(live->reader(), &byte, 1) == 1);
  CHECK(::read(live->reader(), &byte, 1) == 0);
}

TEST_CASE("a signal is passed on once", "[runtime][live]") {
  const auto live = *LiveIo::create([] {});
  live->signal(15);
  CHECK(live->take_signal() == 15);
  CHECK(live->take_signal() == 0);
}

}  // namespace runtime
