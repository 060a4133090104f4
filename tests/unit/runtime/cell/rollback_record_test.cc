#include "runtime/cell/rollback_record.h"

#include <catch2/catch.hpp>

using runtime::RollbackRecord;
using std::chrono::seconds;

TEST_CASE("a template's memory is lent until it could not be brought back a few times in a row",
          "[cell][borrow]") {
  RollbackRecord record;
  seconds now{1000};
  for (uint64_t i = 0; i < RollbackRecord::kMostFailures; ++i) {
    CHECK(record.is_trusted("python", now));
    record.count_failure("python", now);
    now += RollbackRecord::kMemory;
  }

  CHECK_FALSE(record.is_trusted("python", now));
  CHECK(record.is_trusted("python-numpy", now));
  CHECK(record.failures() == RollbackRecord::kMostFailures);
}

TEST_CASE("where processes are scarce, no cell has a holder beside its first process for a minute",
          "[cell][borrow]") {
  RollbackRecord record;
  const seconds now{1000};

  record.pause("python", now);

  CHECK_FALSE(record.is_trusted("python", now + RollbackRecord::kMemory));
  CHECK(record.is_trusted("python", now + RollbackRecord::kMemory + seconds(1)));
  CHECK(record.is_trusted("python-numpy", now));
  CHECK(record.failures() == 0);  // of rollbacks
}

TEST_CASE("failures are forgotten when a minute has passed without another", "[cell][borrow]") {
  RollbackRecord record;
  const seconds begin{1000}, later = begin + RollbackRecord::kMemory + seconds(1);
  for (uint64_t i = 0; i < RollbackRecord::kMostFailures; ++i)
    record.count_failure("python", begin);
  CHECK_FALSE(record.is_trusted("python", begin));

  CHECK(record.is_trusted("python", later));
  record.count_failure("python", later);

  CHECK(record.is_trusted("python", later));
}
