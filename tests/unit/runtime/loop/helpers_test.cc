#include "runtime/loop/helpers.h"

#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace runtime {
namespace {

std::unique_ptr<Helpers> start(Loop& loop, unsigned most) {
  return std::move(Helpers::start(loop, most, {})).value();
}

TEST_CASE("work is done beside the loop, and what follows it in the loop", "[helpers]") {
  Loop loop;
  {
    const std::unique_ptr<Helpers> helpers = start(loop, 2);
    std::thread::id worked, followed;
    helpers->run(
        Helpers::Where::kAnywhere, [&] { worked = std::this_thread::get_id(); },
        [&] {
          followed = std::this_thread::get_id();
          loop.stop();
        });
    loop.run();

    CHECK(worked != std::this_thread::get_id());
    CHECK(followed == std::this_thread::get_id());
  }
}

TEST_CASE("work of one does not wait for another's", "[helpers]") {
  Loop loop;
  {
    const std::unique_ptr<Helpers> helpers = start(loop, 3);
    std::binary_semaphore first_may_end(0);
    std::string order;
    helpers->run(
        Helpers::Where::kAnywhere, [&] { first_may_end.acquire(); },
        [&] {
          order += "first ";
          loop.stop();
        });
    helpers->run(
        Helpers::Where::kAnywhere, [] {},
        [&] {
          order += "second ";
          first_may_end.release();
        });
    loop.run();

    CHECK(order == "second first ");
  }
}

TEST_CASE("with no more threads allowed everything is done all the same", "[helpers]") {
  Loop loop;
  {
    const std::unique_ptr<Helpers> helpers = start(loop, 1);
    int left = 100;
    for (int i = left; i > 0; --i) {
      helpers->run(
          Helpers::Where::kAnywhere, [] {},
          [&] {
            if (--left == 0) loop.stop();
          });
    }
    loop.run();

    CHECK(left == 0);
  }
}

TEST_CASE("long work may go to any CPU, and short work is done on the loop's own", "[helpers]") {
  cpu_set_t before, one;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  std::vector<int> cpus;
  {
    Loop loop;
    const std::unique_ptr<Helpers> helpers = start(loop, 1);
    auto count = [&] {
      cpu_set_t mine;
      ::sched_getaffinity(0, sizeof mine, &mine);
      cpus.push_back(CPU_COUNT(&mine));
    };
    using enum Helpers::Where;
    helpers->run(kNear, count, {});
    helpers->run(kAnywhere, count, {});
    helpers->run(kNear, count, [&] { loop.stop(); });
    loop.run();
  }
  ::sched_setaffinity(0, sizeof before, &before);
  CHECK(cpus == std::vector<int>{1, CPU_COUNT(&before), 1});
}

TEST_CASE("who leaves waits for the work, but nothing follows it", "[helpers]") {
  Loop loop;
  std::atomic<int> worked{0};
  bool followed = false;
  {
    const std::unique_ptr<Helpers> helpers = start(loop, 2);
    for (int i = 0; i < 10; ++i)
      helpers->run(
          Helpers::Where::kAnywhere, [&] { ++worked; }, [&] { followed = true; });
  }
  CHECK(worked == 10);
  CHECK_FALSE(followed);
}

}  // namespace
}  // namespace runtime
