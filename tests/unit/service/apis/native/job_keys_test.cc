#include "service/apis/native/job_keys.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

JobKeys::Known known(const std::string& job) {
  return {.digest = "digest of " + job, .job = job, .held = nullptr};
}

}  // namespace

TEST_CASE("a key leads to its job as long as somebody keeps the job", "[service][keys]") {
  JobKeys keys;
  std::shared_ptr<void> kept = keys.take("ann", "one", known("j-1"));
  std::shared_ptr<void> copy = kept;

  REQUIRE(keys.find("ann", "one") != nullptr);
  CHECK(keys.find("ann", "one")->job == "j-1");
  CHECK(keys.find("ann", "one")->digest == "digest of j-1");
  CHECK(keys.find("ann", "two") == nullptr);

  kept.reset();
  CHECK(keys.find("ann", "one") != nullptr);
  copy.reset();
  CHECK(keys.find("ann", "one") == nullptr);
  CHECK(keys.size() == 0);
}

TEST_CASE("a key is its client's own, however names and keys are put together", "[service][keys]") {
  JobKeys keys;
  const auto first = keys.take("ann", "one", known("j-1"));
  CHECK(keys.find("bob", "one") == nullptr);
  CHECK(keys.find("an", "none") == nullptr);
  CHECK(keys.find("annone", "") == nullptr);

  const auto second = keys.take("bob", "one", known("j-2"));
  CHECK(keys.find("ann", "one")->job == "j-1");
  CHECK(keys.find("bob", "one")->job == "j-2");
}

TEST_CASE("a key that was given up can be taken by another job", "[service][keys]") {
  JobKeys keys;
  keys.take("ann", "one", known("j-1")).reset();

  const auto again = keys.take("ann", "one", known("j-2"));

  CHECK(keys.find("ann", "one")->job == "j-2");
}

TEST_CASE("a key is counted as long as it is known", "[service][keys]") {
  JobKeys keys;
  auto held = std::make_shared<int>();
  const std::weak_ptr<int> count = held;
  const std::string longest(255, 'k');
  auto kept = keys.take("ann", longest, {.digest = "", .job = "", .held = std::move(held)});
  CHECK_FALSE(count.expired());

  kept.reset();

  CHECK(count.expired());
  CHECK(JobKeys::bytes_of("ann", longest) >= longest.size() + 64);
}

}  // namespace service
