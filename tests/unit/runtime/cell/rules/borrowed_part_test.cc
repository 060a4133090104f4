#include "runtime/cell/rules/borrowed_part.h"

#include <catch2/catch.hpp>

using runtime::BorrowedPart;
using runtime::Residence;

TEST_CASE("a job's part of borrowed memory is what it has added", "[borrow][memory]") {
  BorrowedPart part;
  part.begin({.all = {1000}, .files = {600}, .tables = {50}}, {100});

  SECTION("pages of files are nobody's") {
    CHECK(part.of({.all = {1500}, .files = {900}, .tables = {50}}).count == 200);
  }
  SECTION("page tables beyond those that were there count") {
    CHECK(part.of({.all = {1000}, .files = {600}, .tables = {80}}).count == 30);
  }
  SECTION("of its peak, too, and of the warm pages those that it has changed") {
    const Residence after{.all = {1300}, .files = {900}, .tables = {50}};
    CHECK(part.of_peak({1700}, after, {100}).count == 400);
    CHECK(part.of_peak({1700}, after, {60}).count == 440);
  }
  SECTION("less than there was is nothing") {
    CHECK(part.of({.all = {700}, .files = {600}, .tables = {10}}).count == 0);
    CHECK(part.of_peak({900}, {.all = {700}, .files = {500}, .tables = {}}, {200}).count == 0);
  }
}
