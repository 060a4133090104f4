#include "runtime/job/departures.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "sandbox/sys/file.h"

namespace runtime {
namespace {

using Side = Departures::Side;

// Two pipes whose ends two sides hold, crosswise.
struct Crossed {
  sys::Pipe to_one = sys::make_pipe().value(), to_other = sys::make_pipe().value();
  Departures departures{to_one.reader.get(), to_other.reader.get()};

  void one_leaves() {
    to_other.writer = {};
    to_one.reader = {};
  }
  void other_leaves() {
    to_other.reader = {};
    to_one.writer = {};
  }
};

TEST_CASE("who has left the pipes first is known when both have", "[departures]") {
  Crossed crossed;
  CHECK_FALSE(crossed.departures.first());
  SECTION("one") {
    crossed.one_leaves();
    CHECK_FALSE(crossed.departures.first());
    crossed.other_leaves();
    CHECK(crossed.departures.first() == Side::kOne);
  }
  SECTION("the other") {
    crossed.other_leaves();
    crossed.one_leaves();
    CHECK(crossed.departures.first() == Side::kOther);
  }
}

TEST_CASE("who has closed its output only has not left", "[departures]") {
  Crossed crossed;
  crossed.to_other.writer = {};
  crossed.other_leaves();
  CHECK_FALSE(crossed.departures.first());
  crossed.to_one.reader = {};
  CHECK(crossed.departures.first() == Side::kOther);
}

TEST_CASE("an end that was opened again and closed has not been left", "[departures]") {
  Crossed crossed;
  const std::string name = "/proc/self/fd/" + std::to_string(crossed.to_one.reader.get());
  sys::OwnedFd(::open(name.c_str(), O_RDONLY | O_NONBLOCK));
  crossed.to_other.writer = {};
  crossed.other_leaves();
  crossed.to_one.reader = {};
  CHECK(crossed.departures.first() == Side::kOther);
}

TEST_CASE("an exit in which the other side comes in between was first", "[departures]") {
  Crossed crossed;
  sys::Pipe errors_of_one = sys::make_pipe().value(), errors_of_other = sys::make_pipe().value();
  crossed.departures.watch_errors(Side::kOne, errors_of_one.reader.get());
  crossed.departures.watch_errors(Side::kOther, errors_of_other.reader.get());
  SECTION("and not one that closed its output early") { crossed.to_other.writer = {}; }
  SECTION("and not one that closed its errors early") { errors_of_one.writer = {}; }
  errors_of_other.writer = {};
  crossed.to_one.writer = {};
  errors_of_one.writer = {};
  crossed.one_leaves();
  CHECK_FALSE(crossed.departures.first());
  crossed.to_other.reader = {};
  CHECK(crossed.departures.first() == Side::kOther);
}

TEST_CASE("a stream that another conversation had before is this one's now", "[departures]") {
  sys::Pipe errors = sys::make_pipe().value();
  const std::string name = "/proc/self/fd/" + std::to_string(errors.reader.get());
  auto use = [&] { sys::OwnedFd(::open(name.c_str(), O_WRONLY)); };
  Crossed first;
  first.departures.watch_errors(Side::kOne, errors.reader.get());
  use();
  first.to_other.writer = {};
  {
    Crossed second;
    second.departures.watch_errors(Side::kOther, errors.reader.get());
    first.other_leaves();
    second.to_one.writer = {};
    second.one_leaves();
    second.to_other.reader = {};
    use();
    CHECK(second.departures.first() == Side::kOne);
  }
  first.to_one.reader = {};
  CHECK(first.departures.first() == Side::kOne);
}

TEST_CASE("many at once are told apart, also those that nobody asked about", "[departures]") {
  for (int turn = 0; turn < 20'000; ++turn) Crossed();
  Crossed first, second;
  second.other_leaves();
  first.one_leaves();
  first.other_leaves();
  second.one_leaves();
  CHECK(first.departures.first() == Side::kOne);
  CHECK(second.departures.first() == Side::kOther);
}

TEST_CASE("what cannot be watched is not known", "[departures]") {
  CHECK_FALSE(Departures(-1, -1).first());
}

}  // namespace
}  // namespace runtime
