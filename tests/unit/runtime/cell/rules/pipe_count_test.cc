#include "runtime/cell/rules/pipe_count.h"

#include <catch2/catch.hpp>

using runtime::PipeCount;
using std::chrono::milliseconds;
using sys::Nanoseconds;

namespace {

constexpr Nanoseconds kNow = milliseconds(1000);

PipeCount full_one(uint64_t most) {
  PipeCount pipes(most);
  for (uint64_t i = 0; i < most; ++i) CHECK(pipes.add());
  return pipes;
}

}  // namespace

TEST_CASE("pipes: all jobs that run at once leave a quarter of what the kernel gives a uid") {
  for (unsigned jobs : {1u, 3u, 4u, 16u, 96u}) CHECK(PipeCount::most_of(jobs) * jobs <= 768);
  CHECK(PipeCount::most_of(0) == 256);
  CHECK(PipeCount::most_of(4) == 192);
  CHECK(PipeCount::most_of(10'000) == 8);  // a program with its own children needs some
}

TEST_CASE("pipes: nothing is counted below the limit") {
  PipeCount pipes(3);
  CHECK_FALSE(pipes.must_count(kNow));
  CHECK(pipes.add());
  CHECK_FALSE(pipes.must_count(kNow));
}

TEST_CASE("pipes: at the limit those that live count") {
  PipeCount pipes = full_one(3);
  CHECK(pipes.must_count(kNow));

  pipes.count(1, kNow, milliseconds(1));

  CHECK(pipes.add());
  CHECK(pipes.add());
  CHECK_FALSE(pipes.add());
  CHECK(pipes.must_count(kNow + milliseconds(1)));  // there was room, so it is no flood
}

TEST_CASE("pipes: who has too many and then fewer has room at once") {
  PipeCount pipes = full_one(3);
  pipes.count(3, kNow, milliseconds(2));
  CHECK_FALSE(pipes.add());

  REQUIRE(pipes.must_count(kNow + milliseconds(2)));
  pipes.count(2, kNow + milliseconds(2), milliseconds(2));

  CHECK(pipes.add());
}

TEST_CASE("pipes: who stays at the limit costs a tenth of our time") {
  PipeCount pipes = full_one(3);

  for (unsigned i = 0; i < PipeCount::kFreeCounts; ++i) pipes.count(3, kNow, milliseconds(10));

  CHECK_FALSE(pipes.must_count(kNow + milliseconds(199)));
  CHECK(pipes.must_count(kNow + milliseconds(200)));
}

TEST_CASE("pipes: a count that took long does not refuse a pipe to who has room again") {
  PipeCount pipes = full_one(3);
  pipes.count(3, kNow, milliseconds(500));
  CHECK_FALSE(pipes.add());

  REQUIRE(pipes.must_count(kNow + milliseconds(500)));
  pipes.count(1, kNow + milliseconds(500), milliseconds(1));

  CHECK(pipes.add());
}
