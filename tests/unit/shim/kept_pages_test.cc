#include "shim/borrow/kept_pages.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace shim::borrow {
namespace {

uintptr_t page(uintptr_t number) { return number * kPageBytes; }

}  // namespace

TEST_CASE("kept pages are in the order of addresses, whenever they came", "[kept]") {
  const auto kept = std::make_unique<KeptPages>();
  for (const uintptr_t number : {5, 2, 9, 7, 1}) kept->add({page(number), nullptr, number > 4});
  std::vector<uintptr_t> found;
  for (const Kept& each : *kept) found.push_back(each.page / kPageBytes);
  CHECK(found == std::vector<uintptr_t>{1, 2, 5, 7, 9});
  REQUIRE(kept->find(page(7)));
  CHECK(kept->find(page(7))->is_warm);
  CHECK_FALSE(kept->find(page(2))->is_warm);
  CHECK(kept->find(page(0)) == nullptr);
  CHECK(kept->find(page(6)) == nullptr);
  CHECK(kept->find(page(10)) == nullptr);
}

TEST_CASE("as many pages as there is room for are kept", "[kept]") {
  const auto kept = std::make_unique<KeptPages>();
  for (uintptr_t number = kMostKept; number > 0; --number)
    kept->add({page(number), nullptr, false});
  CHECK(kept->size() == kMostKept);
  CHECK(kept->begin()->page == page(1));
  CHECK(kept->find(page(kMostKept)) + 1 == kept->end());
}

TEST_CASE("a page is recent when it was noted before", "[kept]") {
  const auto recent = std::make_unique<RecentPages>();
  CHECK_FALSE(recent->note(page(3)));
  CHECK_FALSE(recent->note(page(4)));
  CHECK(recent->note(page(3)));
  CHECK(recent->note(page(4)));
}

TEST_CASE("pages fall out of what is recent when there are many others", "[kept]") {
  const auto recent = std::make_unique<RecentPages>();
  for (uintptr_t number = 0; number < 100'000; ++number) (void)recent->note(page(number));
  size_t known = 0;
  for (uintptr_t number = 0; number < 1000; ++number) known += recent->note(page(number)) ? 1 : 0;
  CHECK(known < 10);
}

}  // namespace shim::borrow
