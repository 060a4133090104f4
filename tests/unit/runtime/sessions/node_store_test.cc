#include "runtime/sessions/node_store.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/sys/file.h"

namespace runtime {
namespace {

using std::chrono::minutes;

using Files = std::vector<std::shared_ptr<const NodeContents>>;

Node node_of(const std::string& tenant) {
  return {
      .id = {}, .tenant = tenant, .template_name = "python", .of = std::make_shared<Incarnation>()};
}

Files contents_of(uint64_t bytes, std::shared_ptr<const void> hold) {
  auto own = std::make_shared<NodeContents>();
  own->bytes = bytes;
  own->hold = std::move(hold);
  return {std::move(own)};
}

std::string put(NodeStore& store, const std::string& tenant, Files files, sys::Nanoseconds now) {
  auto state = std::make_shared<NodeState>();
  state->bytes = files.front()->bytes;
  state->files = std::move(files);
  return store.put(node_of(tenant), std::move(state), now);
}

// As a step is kept. Empty: there is no room.
std::string keep(NodeStore& store, const std::string& tenant, uint64_t bytes,
                 sys::Nanoseconds now = minutes(1)) {
  auto hold = store.reserve(tenant, bytes);
  return hold ? put(store, tenant, contents_of(bytes, std::move(hold)), now) : "";
}

std::string why(NodeStore& store, const std::string& id, const std::string& tenant) {
  const auto found = store.find(id, tenant, minutes(1));
  return found ? "" : found.error().text();
}

}  // namespace

TEST_CASE("a tenant's nodes make its own go, the least recently used first", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 200, minutes(1));
  const std::string b = keep(store, "ann", 200, minutes(2));
  REQUIRE(store.find(a, "ann", minutes(3)));
  const std::string c = keep(store, "ann", 200, minutes(4));  // 500 are hers
  CHECK(why(store, a, "ann").empty());
  CHECK(why(store, b, "ann") == "node \"" + b + "\" is gone: its memory was needed for others");
  CHECK(why(store, c, "ann").empty());
  CHECK(store.counts().bytes == 400);
  CHECK(store.counts().dropped == 1);
}

TEST_CASE("one tenant's nodes never make another's go", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string of_ann = keep(store, "ann", 500, minutes(1));
  for (int i = 0; i < 20; ++i) keep(store, "bob", 200, minutes(2));
  CHECK(why(store, of_ann, "ann").empty());
  CHECK(store.counts().bytes == 700);    // bob has what is free: half of the other 500
  CHECK(store.room_for("carl") == 150);  // and somebody new finds room
  CHECK(keep(store, "carl", 200, minutes(3)).empty());
  CHECK_FALSE(keep(store, "carl", 150, minutes(3)).empty());
}

TEST_CASE("a node is its tenant's alone", "[nodes]") {
  NodeStore store({});
  const std::string id = keep(store, "ann", 1, minutes(1));
  CHECK(why(store, id, "bob") == "\"" + id + "\" is no node of a session here");
  CHECK(why(store, id, "bob").substr(id.size() + 2) ==
        why(store, "n-0", "bob").substr(std::string("n-0").size() + 2));
  CHECK_FALSE(store.forget(id, "bob"));
  CHECK(store.forget(id, "ann"));
  CHECK(why(store, id, "ann") == "node \"" + id + "\" is gone: its session has ended");
  CHECK_FALSE(store.forget(id, "ann"));
}

TEST_CASE("a node that nobody uses goes by itself", "[nodes]") {
  NodeStore store({.idle = minutes(30)});
  const std::string a = keep(store, "ann", 1, minutes(0));
  const std::string b = keep(store, "ann", 1, minutes(10));
  store.forget_idle(minutes(31));
  CHECK(why(store, a, "ann") == "node \"" + a + "\" is gone: nobody has used it for too long");
  CHECK(why(store, b, "ann").empty());
}

TEST_CASE("memory of a node counts before it is written and until nobody has it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  auto first = store.reserve("ann", 300);
  CHECK(store.counts().bytes == 300);
  CHECK_FALSE(store.reserve("ann", 300));  // as two steps may end at once
  const std::string a = put(store, "ann", contents_of(300, std::move(first)), minutes(1));
  const auto runs_on = store.find(a, "ann", minutes(2)).value();
  CHECK_FALSE(store.reserve("ann", 300));  // who goes on from it has its memory still
  CHECK(why(store, a, "ann").empty());
  CHECK(store.forget(a, "ann"));
  CHECK(store.counts().bytes == 300);
  CHECK(store.counts().nodes == 0);
}

TEST_CASE("what cannot have room drops nothing", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 200), b = keep(store, "ann", 200);
  const auto used = store.find(a, "ann", minutes(2)).value();
  CHECK_FALSE(store.reserve("ann", 501));
  CHECK_FALSE(store.reserve("ann", 400));  // b alone is not enough
  CHECK(why(store, b, "ann").empty());
  CHECK(store.reserve("ann", 300));
  CHECK_FALSE(why(store, b, "ann").empty());
}

TEST_CASE("why a node has gone is for its tenant alone", "[nodes]") {
  NodeStore store({.idle = minutes(30)});
  const std::string id = keep(store, "ann", 1);
  store.forget_idle(minutes(60));
  CHECK(why(store, id, "bob") == "\"" + id + "\" is no node of a session here");
}

TEST_CASE("there are no more nodes than descriptors for them", "[nodes]") {
  NodeStore store({.most = 6});
  for (int i = 0; i < 5; ++i) CHECK_FALSE(keep(store, "ann", 1, minutes(i)).empty());
  CHECK(store.counts().nodes == 3);  // half of what the others have left
  for (int i = 0; i < 5; ++i) CHECK_FALSE(keep(store, "bob", 1, minutes(9)).empty());
  CHECK(store.counts().nodes == 4);
}

TEST_CASE("memory that other nodes share is not free before they go", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});  // 500 are hers
  auto hold = store.reserve("ann", 300);
  const Files first = contents_of(300, std::move(hold));
  const std::string a = put(store, "ann", first, minutes(1));
  Files second = contents_of(100, store.reserve("ann", 100));
  second.push_back(first.front());
  const std::string b = put(store, "ann", std::move(second), minutes(2));
  auto more = store.reserve("ann", 400);
  CHECK_FALSE(more);  // we have it here, so that nothing would be won
  CHECK(why(store, a, "ann").empty());
  CHECK(why(store, b, "ann").empty());
}

TEST_CASE("a node whose memory is shared goes with the one that shares it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  std::string a, b;
  {
    const Files first = contents_of(300, store.reserve("ann", 300));
    a = put(store, "ann", first, minutes(1));
    Files second = contents_of(100, store.reserve("ann", 100));
    second.push_back(first.front());
    b = put(store, "ann", std::move(second), minutes(2));
  }
  CHECK(store.reserve("ann", 400));
  CHECK_FALSE(why(store, a, "ann").empty());
  CHECK_FALSE(why(store, b, "ann").empty());
  CHECK(store.counts().bytes == 0);
}

TEST_CASE("a node that would free nothing stays", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const Files first = contents_of(200, store.reserve("ann", 200));
  const std::string root = put(store, "ann", first, minutes(1));
  Files second = contents_of(100, store.reserve("ann", 100));
  second.push_back(first.front());
  const std::string held = put(store, "ann", std::move(second), minutes(2));
  const auto runs_on = store.find(held, "ann", minutes(3)).value();
  const std::string other = keep(store, "ann", 100, minutes(4));
  CHECK(store.reserve("ann", 200));
  CHECK(why(store, root, "ann").empty());
  CHECK_FALSE(why(store, other, "ann").empty());
}

TEST_CASE("files that nodes share count as long as somebody has them", "[nodes]") {
  NodeStore store({.most = 8});  // 4 are hers
  std::vector<std::shared_ptr<const NodeContents>> files;
  for (int i = 0; i < 3; ++i) {
    files.push_back(contents_of(1, store.reserve("ann", 1)).front());
    CHECK(store.forget(put(store, "ann", {files.back()}, minutes(i)), "ann"));
  }
  CHECK(store.counts().nodes == 0);
  CHECK_FALSE(keep(store, "ann", 1, minutes(4)).empty());
  CHECK_FALSE(keep(store, "ann", 1, minutes(5)).empty());  // the one before goes
  CHECK(store.counts().nodes == 1);
  const auto held = store.reserve("ann", 1);
  CHECK(held);
  CHECK(store.counts().nodes == 0);
  CHECK_FALSE(store.reserve("ann", 1));
}

TEST_CASE("to ask for a node is no use of it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 250, minutes(1));
  const std::string b = keep(store, "ann", 250, minutes(2));
  CHECK(store.why_gone(a, "ann").empty());
  CHECK(store.why_gone(a, "bob") == "\"" + a + "\" is no node of a session here");
  keep(store, "ann", 250, minutes(3));
  CHECK(store.why_gone(a, "ann") == "node \"" + a + "\" is gone: its memory was needed for others");
  CHECK(store.why_gone(b, "ann").empty());
}

// Its one file has these bytes. Empty: there is no room. Catch's own checks are for one thread.
std::string put_bytes(NodeStore& store, std::string_view bytes, sys::Nanoseconds now,
                      const std::string& tenant = "ann") {
  auto contents = std::make_shared<NodeContents>();
  contents->bytes = bytes.size();
  contents->hold = store.reserve(tenant, bytes.size());
  if (!contents->hold) return "";
  contents->file = new_node_file(bytes.size()).value();
  VERIFY(sys::write_all(contents->file.get(), bytes).ok());
  return put(store, tenant, {std::move(contents)}, now);
}

// Pages of a letter take some 23 bytes on the disk, and those of noise themselves.
std::string put_real(NodeStore& store, char letter, sys::Nanoseconds now, size_t pages = 1) {
  return put_bytes(store, std::string(pages * 4096, letter), now);
}
std::string put_noise(NodeStore& store, sys::Nanoseconds now, size_t pages = 1,
                      const std::string& tenant = "ann") {
  std::mt19937_64 chance(7);
  std::string bytes(pages * 4096, '\0');
  for (char& each : bytes) each = static_cast<char>(chance());
  return put_bytes(store, bytes, now, tenant);
}

std::shared_ptr<const Node> found(NodeStore& store, const std::string& id) {
  return store.find(id, "ann", minutes(9)).value();
}

// Its letter, and whether it was on the disk.
std::pair<char, bool> look(NodeStore& store, const std::string& id) {
  const auto node = found(store, id);
  const bool is_away = !store.state_of(*node);
  const auto state = store.load(*node).value();
  if (!state) return {'-', is_away};
  char last = 0;
  VERIFY(::pread(state->files.front()->file.get(), &last, 1, 4095) == 1);
  return {last, is_away};
}

NodesPlan with_disk(uint64_t memory, uint64_t disk) {
  return {.memory = sys::Bytes{memory},
          .disk = NodeDisk::open("/tmp").value(),
          .on_disk = sys::Bytes{disk}};
}

TEST_CASE("nodes that have no room go to the disk, and come back", "[nodes]") {
  NodeStore store(with_disk(20'000, 4096));
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(put_real(store, static_cast<char>('a' + i), minutes(i)));
  CHECK(store.counts().nodes == 5);
  CHECK(store.counts().on_disk == 3);
  CHECK(store.counts().bytes == 8192);
  CHECK(store.counts().dropped == 0);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(why(store, ids[i], "ann").empty());
    CHECK(look(store, ids[i]) ==
          std::pair(static_cast<char>('a' + i), true));  // one drives out the next
  }
  CHECK(store.counts().on_disk == 3);  // others than before
  CHECK(store.counts().bytes == 8192);
  for (const std::string& id : ids) CHECK(store.forget(id, "ann"));
  CHECK(store.counts().on_disk == 0);
  CHECK(store.counts().disk_bytes == 0);
  CHECK(store.counts().bytes == 0);
}

TEST_CASE("what has come back is not written again, as long as the disk has room", "[nodes]") {
  NodeStore store(with_disk(20'000, 200));  // of which 100 are hers: four pages
  const std::string a = put_real(store, 'a', minutes(1)), b = put_real(store, 'b', minutes(2));
  put_real(store, 'c', minutes(3));                 // a goes
  REQUIRE(look(store, a) == std::pair('a', true));  // and b, which a's copy stays beside
  REQUIRE(look(store, b) == std::pair('b', true));  // and c
  const uint64_t bytes = store.counts().disk_bytes;
  CHECK(store.counts().on_disk == 1);
  put_real(store, 'd', minutes(4));  // a goes again
  CHECK_FALSE(store.state_of(*found(store, a)));
  CHECK(store.counts().disk_bytes == bytes);
  for (int i = 0; i < 4; ++i) put_real(store, 'x', minutes(5));
  CHECK(store.counts().disk_bytes <= 100);
  CHECK(store.counts().dropped > 0);
}

TEST_CASE("what is read may leave room for another of its size", "[nodes]") {
  NodeStore store(with_disk(32'000, 4096));  // three are hers
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(put_real(store, 'a', minutes(i)));
  const auto first = store.load(*found(store, ids[0]), true).value();
  REQUIRE(first);
  const auto second = store.load(*found(store, ids[1]), true).value();
  REQUIRE(second);
  CHECK_FALSE(store.load(*found(store, ids[2]), true).value());
  CHECK(store.load(*found(store, ids[2])).value());
}

TEST_CASE("without room on the disk the least recently used go", "[nodes]") {
  NodeStore store(with_disk(20'000, 20'000));  // two are hers in each
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(put_noise(store, minutes(i)));
  const NodeStore::Counts counts = store.counts();
  CHECK(counts.nodes == 4);
  CHECK(counts.on_disk == 2);
  CHECK(counts.dropped == 4);
  CHECK(counts.disk_bytes <= 10'000);
  CHECK(why(store, ids[3], "ann") ==
        "node \"" + ids[3] + "\" is gone: its memory was needed for others");
  CHECK(why(store, ids[4], "ann").empty());
}

TEST_CASE("what may never have room on the disk drives nothing out of it", "[nodes]") {
  NodeStore store(with_disk(64 << 10, 20'000));
  for (int i = 0; i < 10; ++i) put_noise(store, minutes(i));
  CHECK(store.counts().on_disk == 2);
  const std::string large = put_noise(store, minutes(10), 8), next = put_noise(store, minutes(11));
  CHECK_FALSE(why(store, large, "ann").empty());
  CHECK(why(store, next, "ann").empty());
  CHECK(store.counts().on_disk == 2);
}

TEST_CASE("what others have in memory leaves room for a node at a time", "[nodes]") {
  NodeStore store(with_disk(64 << 10, 1 << 20));
  const std::string large = put_noise(store, minutes(1), 6);
  put_noise(store, minutes(2), 6);  // the first one goes to the disk
  REQUIRE_FALSE(store.state_of(*found(store, large)));
  for (int i = 0; i < 4; ++i) REQUIRE_FALSE(put_noise(store, minutes(3), 2, "bob").empty());
  CHECK(store.counts().dropped == 0);
  CHECK(store.load(*found(store, large)).value());
  CHECK_FALSE(put_noise(store, minutes(4), 8, "carl").empty());
  CHECK(store.counts().dropped == 0);
  CHECK(store.counts().nodes == 7);
  CHECK(store.counts().bytes <= 64 << 10);
  CHECK(put_noise(store, minutes(4), 9, "carl").empty());  // more than half of all
}

TEST_CASE("a node that runs stays in memory, and one that waits may go to the disk", "[nodes]") {
  NodeStore store(with_disk(20'000, 4096));
  const std::string a = put_real(store, 'a', minutes(1)), b = put_real(store, 'b', minutes(2));
  const auto waits = found(store, b), uses = found(store, a);
  const auto state = store.state_of(*uses);
  const std::string c = put_real(store, 'c', minutes(10));
  REQUIRE_FALSE(c.empty());
  CHECK(store.state_of(*uses) == state);
  CHECK_FALSE(store.state_of(*waits));
  CHECK(store.forget(b, "ann"));  // who waits has it still
  const auto other = store.load(*waits).value();
  CHECK(other);
  CHECK_FALSE(store.state_of(*found(store, c)));
  CHECK(store.counts().on_disk == 1);
  CHECK_FALSE(store.reserve("ann", 4096));  // all of them are used
  CHECK_FALSE(store.load(*found(store, c)).value());
}

TEST_CASE("a node that somebody waits for does not go for want of room on the disk", "[nodes]") {
  NodeStore store(with_disk(20'000, 2));
  const std::string a = put_real(store, 'a', minutes(1)), b = put_real(store, 'b', minutes(2));
  const auto waits = found(store, a), too = found(store, b);
  CHECK(put_real(store, 'c', minutes(10)).empty());
  CHECK(store.state_of(*waits));
  CHECK(store.counts().nodes == 2);
}

TEST_CASE("who finds no room while room is made waits for it", "[nodes]") {
  NodeStore store(with_disk(64 << 20, 64 << 20));
  REQUIRE_FALSE(put_real(store, 'a', minutes(1), 8192).empty());  // all that is hers
  std::atomic<int> kept{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { kept += put_real(store, 'b', minutes(9), 2048).empty() ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  CHECK(kept == 4);
  CHECK(store.counts().nodes == 5);
}

// The only file without a name in /tmp that this process has.
int damage_file() {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code failed;
    const auto target = std::filesystem::read_symlink(each.path(), failed);
    if (failed || !target.native().starts_with("/tmp/#")) continue;
    return ::ftruncate(std::stoi(each.path().filename()), 3);
  }
  return -1;
}

TEST_CASE("a node that the disk has not kept is gone, and says so", "[nodes]") {
  NodeStore store(with_disk(20'000, 4096));
  const std::string a = put_real(store, 'a', minutes(1));
  put_real(store, 'b', minutes(2));
  put_real(store, 'c', minutes(3));
  const auto node = found(store, a);
  REQUIRE_FALSE(store.state_of(*node));
  REQUIRE(damage_file() == 0);
  CHECK(store.load(*node).error().text() ==
        "node \"" + a + "\" is gone: a node on the disk: it ends early");
  CHECK(why(store, a, "ann") == "node \"" + a + "\" is gone: the disk has not kept it");
  CHECK(store.counts().on_disk == 1);  // which made room
  CHECK(store.counts().nodes == 2);
}

TEST_CASE("threads that load and put aside the same nodes find each what it is", "[nodes]") {
  NodeStore store(with_disk(64 << 10, 1 << 20));
  std::vector<std::string> ids;
  for (int i = 0; i < 16; ++i)
    ids.push_back(put_real(store, static_cast<char>('a' + i), minutes(i)));
  std::atomic<int> wrong{0}, right{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 chance(seed);
      for (int i = 0; i < 200; ++i) {
        const size_t which = chance() % ids.size();
        (look(store, ids[which]).first == static_cast<char>('a' + which) ? right : wrong)++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);  // four of eight are free at any time
  CHECK(right == 800);
  CHECK(store.counts().nodes == 16);
  CHECK(store.counts().bytes <= 32 << 10);
}

}  // namespace runtime
