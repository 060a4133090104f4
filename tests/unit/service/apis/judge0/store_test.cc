#include "service/apis/judge0/store.h"

#include <catch2/catch.hpp>

#include "service/apis/judge0/ending.h"

namespace service::judge0 {

namespace {

using std::chrono::milliseconds;

struct Shelf {
  Allowance held{size_t{1} << 20};
  SubmissionStore store;

  explicit Shelf(SubmissionStore::Limits limits = {}) : store(limits) {}
  void add(const std::string& token, const std::string& owner) {
    Allowance::Share share(held, owner);
    auto asked = std::make_shared<const Asked>();
    REQUIRE(share.resize(asked->bytes()));
    store.add({.owner = owner,
               .submission = {.token = token, .asked = asked},
               .share = std::move(share)});
  }
  std::optional<Submission> end(const std::string& token, milliseconds at = {}, size_t output = 0) {
    Ending ending;
    ending.status = Status::kAccepted;
    ending.out = std::string(output, 'a');
    return store.end(token, std::move(ending), at);
  }
};

}  // namespace

TEST_CASE("judge0: a submission is found by its owner only", "[service][judge0]") {
  Shelf shelf;
  shelf.add("t", "ann");

  CHECK(shelf.store.find("ann", "t")->submission.status == Status::kInQueue);
  CHECK(shelf.store.find("bob", "t") == nullptr);
  CHECK_FALSE(shelf.store.remove("bob", "t"));
  CHECK(shelf.end("t")->status == Status::kAccepted);
  CHECK(shelf.store.remove("ann", "t"));
  CHECK(shelf.store.find("ann", "t") == nullptr);
  CHECK(shelf.held.held() == 0);
  CHECK_FALSE(shelf.end("t"));  // it was removed
}

TEST_CASE("judge0: of too many the oldest of who has most leave, never those that run",
          "[service][judge0]") {
  Shelf shelf({.submissions = 3});
  for (const char* token : {"runs", "a1", "a2", "a3"}) shelf.add(token, "ann");
  shelf.add("b1", "bob");

  for (const char* token : {"b1", "a1", "a2", "a3"}) shelf.end(token);

  CHECK(shelf.store.find("ann", "a1") == nullptr);
  CHECK(shelf.store.find("ann", "a2") != nullptr);
  CHECK(shelf.store.find("bob", "b1") != nullptr);
  CHECK(shelf.store.find("ann", "runs") != nullptr);
}

TEST_CASE("judge0: one that leaves at once is still told to who waits for it",
          "[service][judge0]") {
  Shelf shelf({.bytes = 1000});
  shelf.add("t", "ann");

  CHECK(shelf.end("t")->status == Status::kAccepted);
  CHECK(shelf.store.size() == 0);
  CHECK(shelf.held.held() == 0);
}

TEST_CASE("judge0: a result that cannot be held is an internal error", "[service][judge0]") {
  Shelf shelf;
  shelf.add("t", "ann");

  const auto ended = shelf.end("t", {}, size_t{2} << 20);

  CHECK(ended->status == Status::kInternalError);
  CHECK_FALSE(ended->ending->out);
}

TEST_CASE("judge0: a submission is forgotten when its time is over", "[service][judge0]") {
  Shelf shelf({.keep = milliseconds(10)});
  for (const char* token : {"1", "2"}) shelf.add(token, "ann");
  shelf.add("runs", "ann");
  shelf.end("1", milliseconds(0));
  shelf.end("2", milliseconds(5));

  CHECK(shelf.store.forget_old(milliseconds(9)) == milliseconds(10));
  CHECK(shelf.store.size() == 3);
  CHECK(shelf.store.forget_old(milliseconds(10)) == milliseconds(15));
  CHECK(shelf.store.find("ann", "1") == nullptr);
  CHECK_FALSE(shelf.store.forget_old(milliseconds(15)));
  CHECK(shelf.store.size() == 1);
}

TEST_CASE("judge0: a token is a version 4 UUID", "[service][judge0]") {
  const std::string token = new_submission_token();
  REQUIRE(token.size() == 36);
  CHECK(token[14] == '4');
  CHECK(std::string("89ab").find(token[19]) != std::string::npos);
  CHECK(token != new_submission_token());
}

}  // namespace service::judge0
