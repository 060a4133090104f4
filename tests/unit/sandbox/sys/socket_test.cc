#include "sandbox/sys/socket.h"

#include <catch2/catch.hpp>

#include "sandbox/sys/file.h"

namespace {

std::span<const std::byte> bytes(const char& letter) { return sys::bytes_of(letter); }

TEST_CASE("a message that was sent is received, though the peer left ours unread", "[socket]") {
  sys::SocketPair pair = sys::seqpacket_pair().value();
  const char question = '?', answer = '!';
  REQUIRE(sys::send_message(pair.theirs.get(), bytes(answer)).ok());
  REQUIRE(sys::send_message(pair.ours.get(), bytes(question)).ok());
  pair.theirs.reset();

  char got = 0;
  auto first = sys::receive_message(pair.ours.get(), sys::writable_bytes_of(got));
  REQUIRE(first.ok());
  CHECK(first->size == 1);
  CHECK(got == answer);
  auto end = sys::receive_message(pair.ours.get(), sys::writable_bytes_of(got));
  REQUIRE(end.ok());
  CHECK(end->size == 0);
}

TEST_CASE("descriptors travel with a message", "[socket]") {
  sys::SocketPair pair = sys::seqpacket_pair().value();
  sys::Pipe pipe = sys::make_pipe().value();
  const char letter = 'f';
  REQUIRE(sys::send_message(pair.theirs.get(), bytes(letter), std::vector<int>{pipe.writer.get()})
              .ok());
  pipe.writer.reset();

  char got = 0;
  auto received = sys::receive_message(pair.ours.get(), sys::writable_bytes_of(got));
  REQUIRE(received.ok());
  REQUIRE(received->fds.size() == 1);
  REQUIRE(sys::write_all(received->fds[0].get(), "x").ok());
  received->fds.clear();
  CHECK(sys::read_all(pipe.reader.get(), 10).value() == "x");
}

}  // namespace
