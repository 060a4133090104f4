#include "runtime/job/exit_order.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "sandbox/sys/file.h"

namespace runtime {
namespace {

using Side = ExitOrder::Side;

// Two pipes whose ends two sides hold, crosswise.
struct Crossed {
  sys::Pipe to_one = sys::make_pipe().value(), to_other = sys::make_pipe().value();
  ExitOrder exit_order{to_one.reader.get(), to_other.reader.get()};

  void one_leaves() {
    to_other.writer = {};
    to_one.reader = {};
  }
  void other_leaves() {
    to_other.reader = {};
    to_one.writer = {};
  }
};

TEST_CASE("who has left the pipes first is known when both have", "[exit_order]") {
  Crossed crossed;
  CHECK_FALSE(crossed.exit_order.first());
  SECTION("one") {
    crossed.one_leaves();
    CHECK_FALSE(crossed.exit_order.first());
    crossed.other_leaves();
    CHECK(crossed.exit_order.first() == Side::kOne);
  }
  SECTION("the other") {
    crossed.other_leaves();
    crossed.one_leaves();
    CHECK(crossed.exit_order.first() == Side::kOther);
  }
}

TEST_CASE("who has closed its output only has not left", "[exit_order]") {
  Crossed crossed;
  crossed.to_other.writer = {};
  crossed.other_leaves();
  CHECK_FALSE(crossed.exit_order.first());
  crossed.to_one.reader = {};
  CHECK(crossed.exit_order.first() == Side::kOther);
}

TEST_CASE("an end that was opened again and closed has not been left", "[exit_order]") {
  Crossed crossed;
  const std::string name = "/proc/self/fd/" + std::to_string(crossed.to_one.reader.get());
  sys::OwnedFd(::open(name.c_str(), O_RDONLY | O_NONBLOCK));
  crossed.to_other.writer = {};
  crossed.other_leaves();
  crossed.to_one.reader = {};
  CHECK(crossed.exit_order.first() == Side::kOther);
}

TEST_CASE("an exit in which the other side comes in between was first", "[exit_order]") {
  Crossed crossed;
  sys::Pipe errors_of_one = sys::make_pipe().value(), errors_of_other = sys::make_pipe().value();
  crossed.exit_order.watch_errors(Side::kOne, errors_of_one.reader.get());
  crossed.exit_order.watch_errors(Side::kOther, errors_of_other.reader.get());
  SECTION("and not one that closed its output early") { crossed.to_other.writer = {}; }
  SECTION("and not one that closed its errors early") { errors_of_one.writer = {}; }
  errors_of_other.writer = {};
  crossed.to_one.writer = {};
  errors_of_one.writer = {};
  crossed.one_leaves();
  CHECK_FALSE(crossed.exit_order.first());
  crossed.to_other.reader = {};
  CHECK(crossed.exit_order.first() == Side::kOther);
}

TEST_CASE("a stream that another conversation had before is this one's now", "[exit_order]") {
  sys::Pipe errors = sys::make_pipe().value();
  const std::string name = "/proc/self/fd/" + std::to_string(errors.reader.get());
  auto use = [&] { sys::OwnedFd(::open(name.c_str(), O_WRONLY)); };
  Crossed first;
  first.exit_order.watch_errors(Side::kOne, errors.reader.get());
  use();
  first.to_other.writer = {};
  {
    Crossed second;
    second.exit_order.watch_errors(Side::kOther, errors.reader.get());
    first.other_leaves();
    second.to_one.writer = {};
    second.one_leaves();
    second.to_other.reader = {};
    use();
    CHECK(second.exit_order.first() == Side::kOne);
  }
  first.to_one.reader = {};
  CHECK(first.exit_order.first() == Side::kOne);
}

TEST_CASE("many at once are told apart, also those that nobody asked about", "[exit_order]") {
  for (int turn = 0; turn < 20'000; ++turn) Crossed();
  Crossed first, second;
  second.other_leaves();
  first.one_leaves();
  first.other_leaves();
  second.one_leaves();
  CHECK(first.exit_order.first() == Side::kOne);
  CHECK(second.exit_order.first() == Side::kOther);
}

TEST_CASE("what cannot be watched is not known", "[exit_order]") {
  CHECK_FALSE(ExitOrder(-1, -1).first());
}

}  // namespace
}  // namespace runtime
