#include "tools/cli/certify/room.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

LabelledJob of_memory(uint64_t mebibytes) {
  LabelledJob job;
  job.job.limits.memory = sys::mebibytes(mebibytes);
  return job;
}

}  // namespace

TEST_CASE("a job more at once needs a cell and the mean of what limits allow, within reason",
          "[cli][certify]") {
  CHECK(need_of_worker({of_memory(16), of_memory(32)}) == sys::mebibytes(8 + 24));
  CHECK(need_of_worker({of_memory(512)}) == sys::mebibytes(8 + 64));
}

TEST_CASE("a load that the host has not the memory for is refused, with the highest that it has",
          "[cli][certify]") {
  const std::vector<unsigned> loads{1, 64, 16};
  const std::string why = objection_to_loads(loads, 2, sys::mebibytes(72), sys::mebibytes(72 * 40));
  CHECK(why ==
        "load 64 on 2 cores is 128 jobs at once, which may need 9 GiB of memory (72 MiB each), and "
        "2.8 GiB are available; choose --loads up to 20");
  CHECK(objection_to_loads(loads, 2, sys::mebibytes(72), sys::mebibytes(72 * 128)).empty());
  CHECK(objection_to_loads(loads, 2, sys::mebibytes(72), sys::mebibytes(100))
            .ends_with("lower limits.memory_mb of the jobs"));
}

TEST_CASE("available memory is read from the kernel's words", "[cli][certify]") {
  CHECK(available_in("MemTotal:  100 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n") ==
        sys::mebibytes(2));
  CHECK(available_in("nothing of the kind") > sys::mebibytes(1 << 20));
  CHECK(available_memory() > sys::mebibytes(1));
}

}  // namespace cli
