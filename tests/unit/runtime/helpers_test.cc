#include "runtime/helpers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

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
    helpers->run([&] { worked = std::this_thread::get_id(); },
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
    helpers->run([&] { first_may_end.acquire(); },
                 [&] {
                   order += "first ";
                   loop.stop();
                 });
    helpers->run([] {},
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
      helpers->run([] {},
                   [&] {
                     if (--left == 0) loop.stop();
                   });
    }
    loop.run();

    CHECK(left == 0);
  }
}

TEST_CASE("who leaves waits for the work, but nothing follows it", "[helpers]") {
  Loop loop;
  std::atomic<int> worked{0};
  bool followed = false;
  {
    const std::unique_ptr<Helpers> helpers = start(loop, 2);
    for (int i = 0; i < 10; ++i) helpers->run([&] { ++worked; }, [&] { followed = true; });
  }
  CHECK(worked == 10);
  CHECK_FALSE(followed);
}

}  // namespace
}  // namespace runtime
