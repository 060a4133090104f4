#include "runtime/cell/rules/borrowed_part.h"

#include <catch2/catch.hpp>

using runtime::BorrowedPart;
using runtime::Residence;

TEST_CASE("a job's part of borrowed memory is what it has added", "[borrow][memory]") {
  BorrowedPart part(sys::Bytes{500});
  const Residence before{
      .all = {1000}, .anonymous = {100}, .files = {600}, .shared = {300}, .tables = {50}};
  part.begin(before, {40});
  Residence now = before;

  SECTION("pages of no file") {
    now.anonymous = {350};
    CHECK(part.of(now).count == 250);
  }
  SECTION("pages of files are nobody's") {
    now.files = {900};
    CHECK(part.of(now).count == 0);
  }
  SECTION("nor are those of the image, but a changed one is no page of the image any more") {
    now.shared = {500};
    CHECK(part.of(now).count == 0);
    now = {.all = {1000}, .anonymous = {200}, .files = {600}, .shared = {200}, .tables = {50}};
    CHECK(part.of(now).count == 100);
  }
  SECTION("shared memory of its own is beyond the image") {
    now.shared = {700};
    CHECK(part.of(now).count == 200);
  }
  SECTION("page tables beyond those that were there count") {
    now.tables = {80};
    CHECK(part.of(now).count == 30);
  }
  SECTION("less than there was is nothing") { CHECK(part.of({}).count == 0); }
}

TEST_CASE("so is its part of the peak", "[borrow][memory]") {
  BorrowedPart part(sys::Bytes{500});
  const Residence before{
      .all = {1000}, .anonymous = {100}, .files = {600}, .shared = {300}, .tables = {50}};
  part.begin(before, {40});
  Residence after = before;

  SECTION("without what it was the first to look at") {
    after.files = {650};
    after.shared = {400};
    CHECK(part.of_peak({1700}, after, {40}).count == 550);
  }
  SECTION("with the warm pages that it has changed") {
    CHECK(part.of_peak({1700}, after, {40}).count == 700);
    CHECK(part.of_peak({1700}, after, {10}).count == 730);
  }
  SECTION("and the pages of the image that it has changed, which took the place of others") {
    after.shared = {200};
    CHECK(part.of_peak({1000}, after, {40}).count == 100);
  }
  SECTION("less than there was is nothing") { CHECK(part.of_peak({900}, before, {40}).count == 0); }
}
