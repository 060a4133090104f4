#include "runtime/cell/rules/memory_account.h"

#include <catch2/catch.hpp>

using runtime::MemoryAccount;
using sys::Bytes;
using sys::kibibytes;

namespace {

MemoryAccount of_a_cell() {
  MemoryAccount account;
  account.open(kibibytes(5000));
  return account;
}

}  // namespace

TEST_CASE("memory account: a job's peak is the cell's beyond what the cell uses itself",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  CHECK(account.limit(kibibytes(8192)) == kibibytes(13'192));
  CHECK(account.close({.peak = kibibytes(7000), .used = kibibytes(5000)}) == kibibytes(2000));
  CHECK(account.close({.peak = kibibytes(4000), .used = kibibytes(5000)}) == Bytes{0});
}

TEST_CASE("memory account: a warm page is the memory of a job that has changed it",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  account.close({.peak = kibibytes(6000), .used = kibibytes(5800), .warm = kibibytes(800)});
  CHECK(account.limit(kibibytes(8192)) == kibibytes(13'992));
  CHECK(account.left() == Bytes{0});
  CHECK(account.close({.peak = kibibytes(6200),
                       .unused_warm = kibibytes(300),
                       .used = kibibytes(5800),
                       .warm = kibibytes(800)}) == kibibytes(900));
}

TEST_CASE("memory account: what was left before a job and is there afterwards is not the job's",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  account.close({.peak = kibibytes(6000), .used = kibibytes(5900)});
  CHECK(account.left() == kibibytes(900));
  CHECK(account.close({.peak = kibibytes(6300), .used = kibibytes(5950)}) == kibibytes(400));
  // It was freed while this one ran.
  CHECK(account.close({.peak = kibibytes(6300), .used = kibibytes(5020)}) == kibibytes(1280));
}

TEST_CASE("memory account: a limit makes room for what was left, by steps", "[memory_account]") {
  MemoryAccount account = of_a_cell();
  account.close({.peak = kibibytes(6000), .used = kibibytes(5256)});
  CHECK(account.limit(kibibytes(1000)) == kibibytes(6000));
  account.close({.peak = kibibytes(6000), .used = kibibytes(5900)});
  CHECK(account.limit(kibibytes(1000)) == kibibytes(6768));
  account.close({.peak = kibibytes(6000), .used = kibibytes(5600)});
  CHECK(account.limit(kibibytes(1000)) == kibibytes(6768));
  account.close({.peak = kibibytes(6000), .used = kibibytes(5511)});
  CHECK(account.limit(kibibytes(1000)) == kibibytes(6256));
}

TEST_CASE("memory account: what the kernel would give back is no reason for a higher limit",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  account.close({.peak = kibibytes(25'000), .used = kibibytes(25'000)});
  CHECK(account.left() == kibibytes(20'000));
  CHECK(account.limit(kibibytes(1000)) == kibibytes(5000 + 2048 + 1000));
}

TEST_CASE("memory account: what a cell uses itself is the least that was ever seen",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  CHECK(account.close({.peak = kibibytes(6000), .used = kibibytes(4800)}) == kibibytes(1200));
  CHECK(account.limit(kibibytes(1000)) == kibibytes(5800));
  CHECK(account.close({.peak = kibibytes(6000)}) == kibibytes(1200));  // that could not be read
}

TEST_CASE("memory account: before its end, a job's memory is at most what is not the cell's own",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  account.close({.used = kibibytes(5800), .warm = kibibytes(800)});
  CHECK(account.at_most(kibibytes(9800)) == kibibytes(4000));
  CHECK(account.at_most(kibibytes(5000)) == Bytes{0});
}

TEST_CASE("memory account: a process stays that has little beside what its node has",
          "[memory_account]") {
  MemoryAccount account = of_a_cell();
  SECTION("what each process has") {
    CHECK(account.may_stay(kibibytes(5000 + 3000 + 256), kibibytes(3000)));
    CHECK(account.limit(kibibytes(8192)) == kibibytes(13'192));
    CHECK(account.at_most(kibibytes(9000)) == kibibytes(4000));
  }
  SECTION("more is not the next step's") {
    CHECK(account.may_stay(kibibytes(5000 + 3000 + 256 + 700), kibibytes(3000)));
    CHECK(account.limit(kibibytes(8192)) == kibibytes(13'892));
    CHECK(account.at_most(kibibytes(9000)) == kibibytes(3300));
    SECTION("until one has a process of its own") {
      account.begin();
      CHECK(account.limit(kibibytes(8192)) == kibibytes(13'192));
    }
    SECTION("until it has ended") {
      CHECK(account.close({.peak = kibibytes(9000), .used = kibibytes(5000)}) == kibibytes(4000));
      CHECK(account.limit(kibibytes(8192)) == kibibytes(13'192));
    }
  }
  SECTION("much more ends it") {
    CHECK(account.may_stay(kibibytes(5000 + 256 + 1024), Bytes{0}));
    CHECK_FALSE(account.may_stay(kibibytes(5000 + 256 + 1025), Bytes{0}));
  }
}
