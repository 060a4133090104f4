#include "runtime/engine/node_reader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

namespace runtime {
namespace {

// Lets a thread wait for what another does.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

}  // namespace

TEST_CASE("what finds no room is tried again when there may be some", "[nodes]") {
  NodeReader reader;
  std::atomic<int> tries{0}, others{0};
  Gate first_try, other, done;
  REQUIRE(reader.run([&](bool is_last) {
    CHECK_FALSE(is_last);
    first_try.open();
    if (++tries < 3) return false;
    done.open();
    return true;
  }));
  first_try.wait();
  REQUIRE(reader.run([&](bool /*is_last*/) {  // and nobody waits behind it
    ++others;
    other.open();
    return true;
  }));
  other.wait();
  CHECK(tries == 1);
  while (tries == 1) reader.look_again();
  while (tries == 2) reader.look_again();
  done.wait();
  CHECK(tries == 3);
  CHECK(others == 1);
}

TEST_CASE("room that comes while it is looked for is not missed", "[nodes]") {
  NodeReader reader;
  Gate done;
  int tries = 0;
  REQUIRE(reader.run([&](bool /*is_last*/) {
    if (++tries == 1) {
      reader.look_again();
      return false;
    }
    done.open();
    return true;
  }));
  done.wait();
  CHECK(tries == 2);
}

TEST_CASE("at the end everything is tried for the last time", "[nodes]") {
  std::atomic<int> last{0};
  {
    NodeReader reader;
    Gate tried;
    REQUIRE(reader.run([&](bool is_last) {
      last += is_last;
      tried.open();
      return is_last;
    }));
    tried.wait();
    reader.stop();
    CHECK(last == 1);
  }
  CHECK(last == 1);
}

}  // namespace runtime
