#include "runtime/scheduler/admission/capacity.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

using namespace runtime;
using namespace std::chrono_literals;

namespace {

// A pool whose jobs are numbers, and its log.
struct Pool {
  explicit Pool(unsigned cells)
      : capacity(cells, [this](const std::string& line) { log.push_back(line); }) {}
  unsigned fill() {
    unsigned entered = 0;
    while (capacity.enter(now)) ++entered;
    return entered;
  }
  void refuse(int error = EAGAIN) {
    capacity.shrink("fork", error, now);
    capacity.leave();
  }
  void pass(sys::Nanoseconds time) {
    now += time;
    capacity.settle(now);
  }

  std::vector<std::string> log;
  Capacity capacity;
  sys::Nanoseconds now = 1h;
};

}  // namespace

TEST_CASE("a pool that nothing is refused lets in as many as it has cells", "[capacity]") {
  Pool pool(3);

  CHECK(pool.fill() == 3);
  pool.capacity.leave();
  CHECK(pool.fill() == 1);
  CHECK_FALSE(pool.capacity.is_narrow());
  CHECK(pool.log.empty());
}

TEST_CASE("a crowd that is refused is one step down to what works, told in one line",
          "[capacity]") {
  Pool pool(8);
  pool.fill();

  for (int i = 0; i < 5; ++i) pool.refuse(ENOMEM);
  CHECK(pool.capacity.width() == 3);
  CHECK_FALSE(pool.capacity.enter(pool.now));
  CHECK(pool.log.empty());

  pool.pass(1s);
  CHECK(pool.log == std::vector<std::string>{"pool: 8 -> 3 cells, ENOMEM on fork"});
}

TEST_CASE("a narrow pool grows back one by one while nothing is refused, and says so",
          "[capacity]") {
  Pool pool(3);
  pool.fill();
  pool.refuse();
  pool.refuse();
  pool.pass(20ms);

  CHECK(pool.fill() == 0);
  pool.pass(1s);
  CHECK(pool.fill() == 1);
  pool.pass(1s);
  CHECK(pool.fill() == 1);

  CHECK_FALSE(pool.capacity.is_narrow());
  CHECK(pool.log == std::vector<std::string>{"pool: 3 -> 1 cells, EAGAIN on fork",
                                             "pool: 1 -> 2 cells, there is room again",
                                             "pool: 2 -> 3 cells, there is room again"});
}

TEST_CASE("each step up that was one too many makes the next one later", "[capacity]") {
  Pool pool(2);
  pool.fill();
  pool.refuse();

  sys::Nanoseconds before{};
  for (int i = 0; i < 4; ++i) {
    const sys::Nanoseconds began = pool.now;
    while (!pool.capacity.enter(pool.now)) pool.pass(10ms);
    CHECK(pool.now - began > before);
    before = pool.now - began;
    pool.refuse();
  }
}

TEST_CASE("who is refused alone keeps a place, and asks again after a while", "[capacity]") {
  Pool pool(4);
  REQUIRE(pool.capacity.enter(pool.now));
  pool.refuse();

  CHECK(pool.capacity.width() == 1);
  CHECK_FALSE(pool.capacity.enter(pool.now));
  const sys::Nanoseconds patience = pool.capacity.patience(pool.now);
  CHECK(patience > 0ns);
  pool.pass(1s);
  REQUIRE(pool.capacity.enter(pool.now));

  pool.refuse();
  CHECK(pool.capacity.patience(pool.now) > patience);
}

TEST_CASE("it is hopeless when for a minute no job was run, and not when one was", "[capacity]") {
  Pool pool(1);
  for (int i = 0; i < 13; ++i, pool.pass(4s)) {
    REQUIRE(pool.capacity.enter(pool.now));
    pool.refuse();
  }
  CHECK_FALSE(pool.capacity.is_hopeless(pool.now));
  SECTION("none was") {
    pool.pass(5s);
    REQUIRE(pool.capacity.enter(pool.now));
    pool.pass(5s);
    CHECK(pool.capacity.is_hopeless(pool.now));
  }
  SECTION("one was") {
    pool.capacity.serve();
    pool.pass(10s);
    CHECK_FALSE(pool.capacity.is_hopeless(pool.now));
  }
}

TEST_CASE("the other side of a conversation is let in where there is one place", "[capacity]") {
  Pool pool(2);
  pool.fill();
  pool.refuse();
  CHECK_FALSE(pool.capacity.enter(pool.now));

  pool.capacity.enter_anyway();
  pool.capacity.leave();
  pool.capacity.leave();
  CHECK(pool.capacity.enter(pool.now));
}
