#include "runtime/cell/memory/answer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "sandbox/sys/socket.h"

using namespace runtime;

namespace {

constexpr uint64_t kNonce = 0x1122334455667788;

// A job's processes may do anything to the region.
void write_region(const SharedAnswer& answer, const shim::AnswerRegion& region) {
  REQUIRE(::pwrite(answer.fd(), &region, sizeof region, 0) == sizeof region);
}

}  // namespace

TEST_CASE("an answer of another order, or longer than there is room, is none", "[answer]") {
  SharedAnswer answer = SharedAnswer::create(1000).value();
  shim::AnswerRegion region{};
  region.header = {kNonce, shim::AnswerKind::kValue, 3};

  write_region(answer, region);
  CHECK(answer.take(kNonce, 1000)->payload.size() == 3);
  CHECK_FALSE(answer.take(kNonce + 1, 1000));
  CHECK_FALSE(answer.take(kNonce, 2));
  region.header.size = 0xFFFFFFFF;
  write_region(answer, region);
  CHECK_FALSE(answer.take(kNonce, size_t{1} << 40));
}

TEST_CASE("a note has a printable event and a line that can be, whatever the job wrote",
          "[answer]") {
  SharedAnswer answer = SharedAnswer::create(1000).value();
  shim::AnswerRegion region{};
  region.note.count = 1;
  region.note.line = -2147483647;
  std::memset(region.note.event, 'x', sizeof region.note.event);  // no NUL anywhere
  std::memcpy(region.note.event, "\x1b[2J\n\xff", 6);
  write_region(answer, region);

  SharedAnswer::Note note = answer.note();

  CHECK(note.line == -1);
  CHECK(note.event == "?[2J??" + std::string(sizeof region.note.event - 6, 'x'));
}

TEST_CASE("of what a job wrote into the region no byte is left for the next, nor is the memory",
          "[answer]") {
  SharedAnswer answer = SharedAnswer::create(size_t{1} << 20).value();
  const std::string everywhere(answer.bytes(), 'x');
  REQUIRE(::pwrite(answer.fd(), everywhere.data(), everywhere.size(), 0) ==
          static_cast<ssize_t>(everywhere.size()));

  REQUIRE(answer.clear());

  std::string left(answer.bytes(), '?');
  REQUIRE(::pread(answer.fd(), left.data(), left.size(), 0) == static_cast<ssize_t>(left.size()));
  CHECK(left.find_first_not_of('\0') == std::string::npos);
  struct stat info {};
  REQUIRE(::fstat(answer.fd(), &info) == 0);
  CHECK(info.st_blocks * 512 <= 4096);
}
