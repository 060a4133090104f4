#include "runtime/cell/memory/shared_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

#include "shim/protocol.h"

using namespace runtime;

namespace {

std::string everything_in(int fd) {
  std::string bytes(size_t{4} << 20, '?');
  const ssize_t size = ::pread(fd, bytes.data(), bytes.size(), 0);
  REQUIRE(size >= 0);
  bytes.resize(static_cast<size_t>(size));
  return bytes;
}

size_t memory_of(int fd) {
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  return static_cast<size_t>(info.st_blocks) * 512;
}

int error_of(int result) { return result < 0 ? errno : 0; }

}  // namespace

TEST_CASE("memory that jobs share with the daemon neither grows nor shrinks", "[shared_memory]") {
  const SharedMemory memory = SharedMemory::create("test", 5000).value();

  CHECK(memory.bytes() == 8192);
  CHECK(error_of(::ftruncate(memory.fd(), 8193)) == EPERM);
  CHECK(error_of(::ftruncate(memory.fd(), 8191)) == EPERM);
  CHECK(error_of(::fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_WRITE)) == EPERM);
}

TEST_CASE("of a short request no byte is left behind a shorter one, nor after its job",
          "[shared_memory]") {
  RequestMemory memory = RequestMemory::create().value();
  const sys::OwnedFd cell = memory.for_reading().value();
  const std::string longest(shim::kShortRequest - 1, 'x');

  CHECK(memory.put(longest).value().get() < 0);
  CHECK(everything_in(cell.get()) == longest + std::string(1, '\0'));
  CHECK(memory.put("short").value().get() < 0);  // nobody has cleared it
  CHECK(everything_in(cell.get()) == "short" + std::string(shim::kShortRequest - 5, '\0'));
  CHECK(memory.clear());

  CHECK(everything_in(cell.get()) == std::string(shim::kShortRequest, '\0'));
  CHECK(memory_of(cell.get()) <= 4096);
  CHECK(::pwrite(cell.get(), "x", 1, 0) < 0);
}

TEST_CASE("a long request has a file of its own, of its size, that nobody can change",
          "[shared_memory]") {
  RequestMemory memory = RequestMemory::create().value();
  const sys::OwnedFd cell = memory.for_reading().value();

  for (const size_t size : {shim::kShortRequest, shim::kShortRequest + 1, size_t{1} << 20}) {
    const std::string request(size, 'y');
    const sys::OwnedFd own = memory.put(request).value();

    REQUIRE(own.get() >= 0);
    CHECK(everything_in(own.get()) == request);
    CHECK(error_of(::ftruncate(own.get(), static_cast<off_t>(size) + 1)) == EPERM);
    CHECK(error_of(::ftruncate(own.get(), 0)) == EPERM);
    CHECK(::pwrite(own.get(), "x", 1, 0) < 0);
  }
  CHECK(everything_in(cell.get()) == std::string(shim::kShortRequest, '\0'));
}
