#include "runtime/loop/loop.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "sandbox/sys/socket.h"

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
