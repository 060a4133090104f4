#include "runtime/sessions/address_areas.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>

namespace runtime {
namespace {

using shim::state::AreaKind;

constexpr uint64_t kPage = shim::state::kPageBytes;

constexpr std::string_view kBefore =
    "10000-20000 r-xp 00000000 00:01 5                          /memfd:image (deleted)\n"
    "20000-30000 rw-p 00010000 00:01 5                          /memfd:image (deleted)\n"
    "50000-60000 rw-p 00000000 00:00 0                          [heap]\n"
    "6f1000000000-6f1000010000 rw-s 00000000 00:01 9            /memfd:answer (deleted)\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0            [stack]\n";

AreaChanges changes(std::string_view now, std::string_view before = kBefore,
                    uint64_t brk = ~kPage) {
  return changes_of(parse_maps(before).value(), parse_maps(now).value(), brk);
}

// Without what is the same in all: the areas that hold nothing before runs are put there.
std::vector<AreaChange> differences(const AreaChanges& changes) {
  std::vector<AreaChange> found = changes.changes;
  std::erase_if(found, [](const AreaChange& each) { return each.kind == AreaKind::kUnwritten; });
  return found;
}

std::vector<AreaKind> kinds_of(const AreaChanges& changes) {
  std::vector<AreaKind> kinds;
  for (const AreaChange& each : differences(changes)) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace

TEST_CASE("areas are read as the kernel tells them", "[areas]") {
  const std::vector<AddressArea> areas = parse_maps(kBefore).value();
  REQUIRE(areas.size() == 5);
  CHECK(areas[1] == AddressArea{0x20000, 0x30000, PROT_READ | PROT_WRITE, false, 0x10000, 1, 5,
                                "/memfd:image (deleted)"});
  CHECK(areas[3].is_shared);
  CHECK_FALSE(parse_maps("20000-10000 rw-p 00000000 00:00 0\n"));
  CHECK_FALSE(parse_maps("10000-20000 rw-p x 00:00 0\n"));
  CHECK_FALSE(parse_maps("10000-20000 rw-p 0 00:00 0\n10000-20000 rw-p 0 00:00 0\n"));
}

TEST_CASE("writes are tracked where nobody else takes a page away", "[areas]") {
  const auto trackable = [](std::string_view line) {
    return !trackable_areas(parse_maps(kBefore).value(), parse_maps(line).value()).empty();
  };
  CHECK(trackable("20000-30000 rw-p 00010000 00:01 5  /memfd:image (deleted)\n"));
  CHECK(trackable("24000-28000 r--p 00014000 00:01 5  /memfd:image (deleted)\n"));
  CHECK(trackable("50000-60000 rw-p 00000000 00:00 0  [heap]\n"));
  CHECK(trackable("90000-91000 rw-p 00000000 00:00 0\n"));
  CHECK_FALSE(trackable("20000-31000 rw-p 00010000 00:01 5  /memfd:image (deleted)\n"));
  CHECK_FALSE(trackable("20000-30000 rw-p 00020000 00:01 5  /memfd:image (deleted)\n"));
  CHECK_FALSE(trackable("20000-30000 rw-p 00010000 00:01 6  /memfd:other (deleted)\n"));
  CHECK_FALSE(trackable("20000-30000 rw-p 00010000 00:02 5  /tmp/f\n"));
  CHECK_FALSE(trackable("50000-60000 rw-p 00000000 00:02 7  /tmp/f\n"));
  CHECK_FALSE(trackable("90000-91000 rw-p 00000000 00:02 7  /tmp/f\n"));
  CHECK_FALSE(trackable("90000-91000 rw-s 00000000 00:00 0\n"));
  CHECK_FALSE(trackable("7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0  [stack]\n"));
  CHECK_FALSE(trackable("6f1000000000-6f1000010000 rw-p 00000000 00:00 0\n"));
}

TEST_CASE("in a process with a node, its files are those of others", "[areas]") {
  using shim::state::Area;
  const std::vector<Area> of_node = {{0x21000, 0x22000, AreaKind::kProtection},
                                     {0x30000, 0x32000, AreaKind::kFile},
                                     {0x60000, 0x70000, AreaKind::kAnonymous},
                                     {0x80000, 0x81000, AreaKind::kFile},
                                     {0x10000, 0x90000, AreaKind::kUnwritten}};
  const auto areas = trackable_areas(
      of_node, parse_maps("20000-21000 rw-p 00010000 00:01 5  /memfd:image (deleted)\n"
                          "21000-22000 rw-s 00000000 00:01 5  /memfd:image (deleted)\n"
                          "30000-31000 rw-p 00000000 00:02 7  /tmp/f\n"
                          "31000-32000 r--p 00000000 00:02 7  /tmp/f\n"
                          "32000-33000 rw-p 00000000 00:01 5  /memfd:image (deleted)\n"
                          "60000-70000 rw-p 00000000 00:00 0  [heap]\n"
                          "7f000-82000 rw-p 00000000 00:02 7  /tmp/f\n"
                          "82000-83000 rw-p 00000000 00:00 0\n"
                          "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0  [stack]\n")
                   .value());
  std::vector<uint64_t> begins;
  for (const AddressArea& area : areas) begins.push_back(area.begin);
  CHECK(begins == std::vector<uint64_t>{0x20000, 0x32000, 0x60000, 0x82000});
}

TEST_CASE("what a program puts where a step has something of ours is found", "[areas]") {
  const std::string now(kBefore);
  const std::string request = "6f2000000000-6f2000001000 rw-p 00000000 00:00 0\n";
  const std::string stack = now.substr(now.find("7ffc"));
  const std::string ours = now.substr(0, now.find("7ffc"));
  CHECK(changes(ours + request + stack).cannot.empty());
  for (const char* at : {"6f1000020000-6f1000030000", "6f2000000000-6f2000002000",
                         "6f3000000000-6f3000001000", "6f3fffff0000-6f4000010000"}) {
    const std::string line = std::string(at) + " rw-p 00000000 00:00 0\n";
    CHECK(changes(ours + line + stack).cannot == "an area where zygo has its own");
  }
}

TEST_CASE("nothing has to be done where nothing differs", "[areas]") {
  const AreaChanges found = changes(kBefore);
  CHECK(differences(found).empty());
  // Neither code, nor what is shared, nor the stack.
  REQUIRE(found.changes.size() == 2);
  CHECK(found.changes[0].begin == 0x20000);
  CHECK(found.changes[0].end == 0x30000);
  CHECK(found.changes[1].begin == 0x50000);
}

TEST_CASE("a new area, one that is gone, and one that may be written no more", "[areas]") {
  const AreaChanges found = changes(
      "10000-20000 r-xp 00000000 00:01 5                          /memfd:image (deleted)\n"
      "20000-28000 rw-p 00010000 00:01 5                          /memfd:image (deleted)\n"
      "28000-30000 r--p 00018000 00:01 5                          /memfd:image (deleted)\n"
      "40000-48000 rw-p 00000000 00:00 0\n");
  CHECK(kinds_of(found) ==
        std::vector{AreaKind::kProtection, AreaKind::kAnonymous, AreaKind::kNone});
  CHECK(found.changes[0].begin == 0x28000);
  CHECK(found.cannot.empty());
}

TEST_CASE("a heap that has grown grows again", "[areas]") {
  const AreaChanges found = changes(
      "10000-20000 r-xp 00000000 00:01 5   /memfd:image (deleted)\n"
      "20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
      "50000-70000 rw-p 00000000 00:00 0   [heap]\n");
  REQUIRE(kinds_of(found) == std::vector{AreaKind::kHeap});
  CHECK(found.changes[0].begin == 0x60000);
}

TEST_CASE("a heap in the place of an image is no image", "[areas]") {
  const AreaChanges found = changes(
      "10000-20000 r-xp 00000000 00:01 5   /memfd:image (deleted)\n"
      "20000-28000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
      "28000-38000 rw-p 00000000 00:00 0   [heap]\n"
      "50000-60000 rw-p 00000000 00:00 0   [heap]\n");
  REQUIRE(kinds_of(found) == std::vector{AreaKind::kAnonymous, AreaKind::kHeap});
  CHECK(found.changes[0].begin == 0x28000);
  CHECK(found.changes[0].end == 0x30000);
}

TEST_CASE("a heap ends before its first gap, whatever it is made of", "[areas]") {
  const auto areas = parse_maps(
                         "20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
                         "30000-38000 r--p 00010000 00:01 5   /memfd:image (deleted)\n"
                         "38000-40000 rw-p 00000000 00:00 0   [heap]\n"
                         "50000-60000 rw-p 00000000 00:00 0\n")
                         .value();
  CHECK(end_of_heap(areas, 0x21230) == 0x40000);
  CHECK(end_of_heap(areas, 0x50000) == 0x60000);
  CHECK(end_of_heap(areas, 0x48000) == 0x48000);  // it has nothing yet
  CHECK(end_of_heap(areas, 0x40000) == 0x40000);
}

TEST_CASE("a heap ends where its process says, if that can be", "[areas]") {
  const auto areas = parse_maps(
                         "20000-40000 rw-p 00000000 00:00 0   [heap]\n"
                         "50000-60000 rw-p 00000000 00:00 0\n")
                         .value();
  const auto before = parse_maps("20000-28000 rw-p 00000000 00:00 0   [heap]\n").value();
  CHECK(end_of_heap(before, areas, 0x20000, 0x28010) == 0x28010);
  CHECK(end_of_heap(before, areas, 0x20000, 0x28000) == 0x28000);
  CHECK(end_of_heap(before, areas, 0x20000, 0x40000) == 0x40000);
  // Behind that last one lie pages of the template.
  for (const uint64_t lie : {0x1ffffu, 0x40001u, 0x58000u, 0x27fffu})
    CHECK(end_of_heap(before, areas, 0x20000, lie) == 0x40000);
}

TEST_CASE("a mapping behind the heap is none of it, though it looks like it", "[areas]") {
  const AreaChanges found = changes(
      "10000-20000 r-xp 00000000 00:01 5   /memfd:image (deleted)\n"
      "20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
      "50000-80000 rw-p 00000000 00:00 0   [heap]\n",
      kBefore, 0x70010);
  REQUIRE(kinds_of(found) == std::vector{AreaKind::kHeap, AreaKind::kAnonymous});
  CHECK(found.changes[0].end == 0x71000);
  CHECK(found.changes[1].begin == 0x71000);
  CHECK(found.changes[1].end == 0x80000);
}

TEST_CASE("a library that was loaded is mapped from its file", "[areas]") {
  const AreaChanges sorted = changes(
      "10000-20000 r-xp 00000000 00:01 5   /memfd:image (deleted)\n"
      "20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
      "50000-60000 rw-p 00000000 00:00 0   [heap]\n"
      "7f0000000000-7f0000010000 r--p 00000000 fe:00 77 /usr/lib/x.so\n"
      "7f0000010000-7f0000020000 r-xp 00010000 fe:00 77 /usr/lib/x.so\n");
  REQUIRE(kinds_of(sorted) == std::vector{AreaKind::kFile, AreaKind::kFile});
  CHECK(sorted.changes[1].offset == 0x10000);
  CHECK(sorted.changes[1].path == "/usr/lib/x.so");
}

TEST_CASE("what cannot be put back is named", "[areas]") {
  const auto cannot = [](std::string_view more) {
    return changes(std::string("10000-20000 r-xp 00000000 00:01 5   /memfd:image (deleted)\n"
                               "20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n"
                               "50000-60000 rw-p 00000000 00:00 0   [heap]\n")
                       .append(more))
        .cannot;
  };
  CHECK(cannot("7f0000000000-7f0000010000 rw-s 00000000 00:01 8 /dev/zero (deleted)\n") ==
        "a shared mapping");
  CHECK(cannot("7f0000000000-7f0000010000 rw-p 00000000 00:01 8 /tmp/f (deleted)\n") ==
        "a mapping of a deleted file");
  CHECK(changes("20000-30000 rw-p 00010000 00:01 5   /memfd:image (deleted)\n").cannot ==
        "code of its template that it moved");
}

// What puts a node back stands on the stack: one that was split by madvise(2) or mprotect(2) has
// parts without its name.
TEST_CASE("a program that changed what restores it leaves no node", "[areas]") {
  const std::string rest = std::string(kBefore.substr(0, kBefore.find("7ffc")));
  const auto cannot = [&rest](const std::string& more) { return changes(rest + more).cannot; };
  const std::string why = "a stack that it has changed";
  CHECK(cannot("7ffc00000000-7ffc00010000 rw-p 00000000 00:00 0\n"
               "7ffc00010000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n") == why);
  CHECK(cannot("7ffbff000000-7ffbff001000 rw-p 00000000 00:00 0\n"
               "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n") == why);
  CHECK(cannot("7ffb00000000-7ffb00001000 rw-p 00000000 00:00 0\n"
               "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n")
            .empty());
  // As far as the kernel lets it grow.
  CHECK(cannot("7ffbfff00000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n").empty());
}

TEST_CASE("an area that reaches into what is ours is none of a node's", "[areas]") {
  const auto is_none = [](uint64_t begin, uint64_t end) {
    AddressArea area;
    area.begin = begin;
    area.end = end;
    return is_no_state(area);
  };
  constexpr uint64_t kPage = 0x1000;
  CHECK_FALSE(is_none(shim::state::kAnswerAddress - kPage, shim::state::kAnswerAddress));
  CHECK(is_none(shim::state::kAnswerAddress - kPage, shim::state::kAnswerAddress + kPage));
  CHECK(is_none(shim::state::kEndOfOurs - kPage, shim::state::kEndOfOurs + kPage));
  CHECK_FALSE(is_none(shim::state::kEndOfOurs, shim::state::kEndOfOurs + kPage));
}

}  // namespace runtime
