#include "sandbox/sys/spawn.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "sandbox/sys/file.h"

using sys::OwnedFd;

TEST_CASE("a child has its descriptors in order, whatever their numbers were", "[spawn]") {
  // A busy daemon has hundreds.
  const int number = GENERATE(3, 5, 100, 510, 511, 512, 513, 514, 515, 516, 700);
  auto pipe = sys::make_pipe();
  auto null = sys::open("/dev/null", O_RDWR);
  REQUIRE((pipe.ok() && null.ok()));
  OwnedFd beside(::fcntl(null->get(), F_DUPFD_CLOEXEC, number));
  OwnedFd writer(::fcntl(pipe->writer.get(), F_DUPFD_CLOEXEC, number));
  if (!writer) {
    WARN("SKIPPED: RLIMIT_NOFILE is below " << number);
    return;
  }

  auto child = sys::spawn({{"/bin/sh", "-c", "echo here >&3"},
                           {},
                           {beside.get(), beside.get(), beside.get(), writer.get()}});
  REQUIRE(child.ok());
  pipe->writer.reset();
  writer.reset();
  auto said = sys::read_all(pipe->reader.get(), 100);
  REQUIRE(said.ok());
  CHECK(*said == "here\n");
}

TEST_CASE("a child does not begin with what is left of descriptors to us", "[spawn]") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{100, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  auto said = sys::run_and_read({"/bin/sh", "-c", "[ $(ulimit -Sn) = $(ulimit -Hn) ] && echo all"});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(said.ok());
  CHECK(said->text == "all\n");
}

TEST_CASE("a child that a loop watches is waited for all the same", "[spawn]") {
  auto pipe = sys::make_pipe();
  REQUIRE(pipe.ok());
  auto child = sys::spawn({{"/bin/sh", "-c", "read x; exit 7"}, {}, {pipe->reader.get()}});
  REQUIRE(child.ok());
  REQUIRE(::fcntl(child->pidfd(), F_SETFL, O_NONBLOCK) == 0);  // as libuv does
  pipe->writer.reset();

  auto status = child->reap();

  REQUIRE(status.ok());
  CHECK(*status == 7);
  CHECK_FALSE(child->wait().ok());  // once
}
