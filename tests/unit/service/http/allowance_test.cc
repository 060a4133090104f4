// Tests that the bytes held for clients are counted for each client, so that none takes all.
#include "service/http/allowance.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

TEST_CASE("one client may have all but an eighth of what others leave", "[service][held]") {
  const Allowance allowance(800);
  Allowance::Share greedy(allowance, "greedy"), more(allowance, "greedy");

  CHECK(greedy.resize(600));
  CHECK_FALSE(more.resize(150));
  CHECK(more.bytes() == 0);
  CHECK(more.resize(100));
  CHECK(allowance.held() == 700);

  Allowance::Share modest(allowance, "modest"), third(allowance, "third");
  CHECK(modest.resize(80));
  CHECK(third.resize(15));
  CHECK_FALSE(third.resize(30));
  CHECK(third.bytes() == 15);
}

TEST_CASE("where there is little of something, one client may have all of it", "[service][held]") {
  const Allowance allowance(3);
  Allowance::Share all(allowance, "a");
  CHECK(all.resize(3));
  CHECK_FALSE(all.resize(4));
}

TEST_CASE("a share gives back what it holds, also after its allowance", "[service][held]") {
  Allowance::Share left;
  {
    const Allowance allowance(100);
    Allowance::Share share(allowance, "a");
    CHECK(share.resize(50));
    {
      const auto held = held_share(share, 20);
      CHECK(held != nullptr);
      CHECK(allowance.held() == 70);
      CHECK(held_share(share, 20) == nullptr);
    }
    CHECK(allowance.held() == 50);
    left = std::move(share);
    CHECK(allowance.held() == 50);
    share = Allowance::Share(allowance, "b");
    CHECK(left.resize(10));
    CHECK(allowance.held() == 10);
  }
  CHECK(left.resize(0));
}

TEST_CASE("what a job writes is counted for its client, and goes with its result",
          "[service][held]") {
  const Allowance allowance(100);
  const auto holding = std::make_shared<JobHolding>(Allowance::Share(allowance, "a"));
  {
    runtime::HeldBytes held(holding);
    CHECK(held.grow(60));
    CHECK_FALSE(held.grow(60));
    CHECK(allowance.held() == 60);
    held.shrink_to(20);
    held.shrink_to(30);
    CHECK(allowance.held() == 20);
  }
  CHECK(allowance.held() == 0);
}

}  // namespace
}  // namespace service
