#include "runtime/scheduler/admission/shares.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace runtime {
namespace {

using std::chrono::seconds;

constexpr sys::Nanoseconds kNow = seconds(1000);

size_t begin_all(Shares& shares, const std::string& client, size_t most) {
  size_t begun = 0;
  for (; begun < most && shares.may_begin(client, 1, kNow); ++begun) shares.began(client);
  return begun;
}

TEST_CASE("a client that is alone has all workers", "[shares]") {
  Shares shares(8);
  shares.seen("a", kNow);
  CHECK(begin_all(shares, "a", 8) == 8);
}

TEST_CASE("of several, who runs something leaves an eighth to who runs nothing", "[shares]") {
  const auto [workers, most] = GENERATE(std::pair(4, 3), std::pair(8, 7), std::pair(9, 7));
  Shares shares(static_cast<size_t>(workers));
  shares.seen("a", kNow);
  shares.seen("b", kNow);
  CHECK(begin_all(shares, "a", 20) == static_cast<size_t>(most));

  CHECK(shares.may_begin("b", 1, kNow));
  shares.began("b");
  CHECK_FALSE(shares.may_begin("b", 1, kNow));
  shares.ended("b");
  CHECK(shares.may_begin("b", 1, kNow));
  CHECK_FALSE(shares.may_begin("a", 1, kNow));
  shares.ended("a");
  CHECK(shares.may_begin("a", 1, kNow));
  CHECK_FALSE(shares.may_begin("a", 2, kNow));
}

TEST_CASE("who has asked for nothing for a minute and runs nothing is not waited for", "[shares]") {
  Shares shares(4);
  shares.seen("b", kNow);
  shares.seen("a", kNow + seconds(59));
  for (int i = 0; i < 3; ++i) shares.began("a");
  CHECK_FALSE(shares.may_begin("a", 1, kNow + seconds(59)));
  CHECK(shares.may_begin("a", 1, kNow + seconds(60)));

  shares.began("b");
  CHECK_FALSE(shares.may_begin("a", 1, kNow + seconds(3600)));
}

TEST_CASE("where workers are few, or nobody's, none is left alone", "[shares]") {
  Shares few(3), none(0), some(8);
  few.seen("a", kNow);
  few.seen("b", kNow);
  CHECK(begin_all(few, "a", 3) == 3);
  CHECK(begin_all(none, "a", 9) == 9);
  some.seen("a", kNow);
  CHECK(begin_all(some, "", 8) == 8);
}

}  // namespace
}  // namespace runtime
