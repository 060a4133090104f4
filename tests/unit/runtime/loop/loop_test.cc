#include "runtime/loop/loop.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

using runtime::LateTimer;
using runtime::Loop;
using runtime::Readable;
using runtime::Timer;

TEST_CASE("everything is heard of a peer that left what we sent unread", "[loop]") {
  sys::SocketPair pair = sys::seqpacket_pair().value();
  for (char letter : {'a', 'b', 'c'})
    REQUIRE(sys::send_message(pair.theirs.get(), sys::bytes_of(letter)).ok());
  REQUIRE(sys::send_message(pair.ours.get(), sys::bytes_of('?')).ok());
  pair.theirs.reset();

  Loop loop;
  std::string heard;
  {
    Timer patience(loop, [&] { loop.stop(); });
    patience.start(std::chrono::seconds(10));
    Readable messages(loop, pair.ours.get(), [&] {  // one in a turn
      char letter = 0;
      auto received = sys::receive_message(pair.ours.get(), sys::writable_bytes_of(letter));
      if (received.ok() && received->size == 1) {
        heard += letter;
      } else {
        heard += received.ok() ? '.' : '!';
        messages.stop();
        loop.stop();
      }
    });
    messages.start();
    loop.run();
  }
  CHECK(heard == "abc.");
}

TEST_CASE("a late timer leaves the first word to what has come in time", "[loop]") {
  sys::Pipe pipe = sys::make_pipe().value();
  Loop loop;
  std::string order;
  {
    Readable in_time(loop, pipe.reader.get(), [&] {
      order += "bytes ";
      in_time.stop();
    });
    LateTimer late(loop, [&] {
      order += "late ";
      loop.stop();
    });
    Timer busy(loop, [&] {  // holds the loop up until both are due
      late.start(std::chrono::nanoseconds(0));
      REQUIRE(sys::write_all(pipe.writer.get(), "x").ok());
    });
    in_time.start();
    busy.start(std::chrono::nanoseconds(0));
    loop.run();
  }
  CHECK(order == "bytes late ");
}

TEST_CASE("a late timer that is stopped or moved while it looks does not fire", "[loop]") {
  sys::Pipe pipe = sys::make_pipe().value();
  Loop loop;
  int fired = 0;
  {
    Timer end(loop, [&] { loop.stop(); });
    LateTimer late(loop, [&] { ++fired; });
    Readable in_time(loop, pipe.reader.get(), [&] {
      late.start(std::chrono::hours(1));
      in_time.stop();
      end.start(std::chrono::milliseconds(1));
    });
    REQUIRE(sys::write_all(pipe.writer.get(), "x").ok());
    in_time.start();
    late.start(std::chrono::nanoseconds(0));
    loop.run();
  }
  CHECK(fired == 0);
}
