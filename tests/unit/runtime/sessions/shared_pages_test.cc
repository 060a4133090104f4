#include "runtime/sessions/shared_pages.h"

#include <catch2/catch.hpp>
#include <string>

namespace runtime {
namespace {

using shim::state::kMostFiles;
using shim::state::kPageBytes;
using shim::state::Run;

// Pages [first, last), by their numbers; `at` counts pages, too.
Run run(uint64_t first, uint64_t last, uint32_t file = 0, uint64_t at = 0,
        uint32_t protection = 3) {
  return {first * kPageBytes, last - first, at * kPageBytes, protection, file};
}

std::string text_of(const Runs& runs) {
  std::string text;
  for (const Run& each : runs) {
    text += std::to_string(each.begin / kPageBytes) + "-" + std::to_string(each.end() / kPageBytes);
    text += " f" + std::to_string(each.file) + "@" + std::to_string(each.at / kPageBytes) + "; ";
  }
  return text;
}

std::shared_ptr<const NodeContents> file_of(uint64_t pages) {
  auto file = std::make_shared<NodeContents>();
  file->bytes = pages * kPageBytes;
  return file;
}

}  // namespace

TEST_CASE("what lies in a node's runs has its place there, the rest has none", "[pages]") {
  const Overlap overlap =
      overlap_of({run(10, 20), run(30, 40)}, {run(5, 12, 0, 100), run(15, 33, 2, 200)});
  CHECK(text_of(overlap.both) == "10-12 f0@105; 15-20 f2@200; 30-33 f2@215; ");
  CHECK(text_of(overlap.alone) == "12-15 f0@0; 33-40 f0@0; ");
  CHECK(text_of(overlap_of({run(1, 2)}, {}).alone) == "1-2 f0@0; ");
  CHECK(text_of(overlap_of({}, {run(1, 2)}).both).empty());
  const Overlap within = overlap_of({run(0, 100)}, {run(10, 20, 1, 1), run(20, 30, 0, 7)});
  CHECK(text_of(within.both) == "10-20 f1@1; 20-30 f0@7; ");
  CHECK(text_of(within.alone) == "0-10 f0@0; 30-100 f0@0; ");
}

TEST_CASE("the protection is that of the process", "[pages]") {
  const Overlap overlap = overlap_of({run(10, 20, 0, 0, 1)}, {run(0, 30, 0, 0, 3)});
  CHECK(overlap.both.front().protection == 1);
}

TEST_CASE("runs that go on are one", "[pages]") {
  CHECK(text_of(joined({run(4, 8, 1, 50), run(0, 4, 1, 46)})) == "0-8 f1@46; ");
  CHECK(text_of(joined({run(0, 4, 1, 46), run(4, 8, 1, 51)})) == "0-4 f1@46; 4-8 f1@51; ");
  CHECK(text_of(joined({run(0, 4), run(7, 9), run(4, 7)})) == "0-9 f0@0; ");
  CHECK(text_of(joined({run(0, 4), run(4, 8, 1, 9), run(8, 9)})) ==
        "0-4 f0@0; 4-8 f1@9; 8-9 f0@0; ");
  CHECK(text_of(joined({run(0, 1, 0, 0, 1), run(1, 2, 0, 0, 3)})) == "0-1 f0@0; 1-2 f0@0; ");
}

TEST_CASE("files are kept for a good part of them", "[pages]") {
  Runs runs = {run(0, 10, 1, 0), run(10, 20, 2, 0), run(20, 30, 3, 5), run(30, 60)};
  const auto most = file_of(15), large = file_of(1000), whole = file_of(10);
  const auto chosen = choose_files(runs, {most, large, whole});
  REQUIRE(chosen.size() == 2);
  CHECK(std::count(chosen.begin(), chosen.end(), large) == 0);
  CHECK(runs[1].file == 0);
  CHECK(chosen[runs[0].file - 1] == most);
  CHECK(chosen[runs[2].file - 1] == whole);
  CHECK(runs[2].at == 5 * kPageBytes);
}

TEST_CASE("what is held in vain is at most a quarter of the state", "[pages]") {
  Runs runs = {run(0, 1000)};
  std::vector<std::shared_ptr<const NodeContents>> files;
  for (uint32_t i = 0; i < 4; ++i) {
    runs.push_back(run(1000 + 250 * i, 1250 + 250 * i, i + 1, 0));
    files.push_back(file_of(250 + 200));
  }
  const auto chosen = choose_files(runs, files);  // 200 of 2000 each
  uint64_t wasted = 0;
  for (const auto& file : chosen) wasted += file->bytes / kPageBytes - 250;
  CHECK(chosen.size() == 2);
  CHECK(wasted <= 500);
}

TEST_CASE("a small state may hold a megabyte in vain", "[pages]") {
  Runs runs = {run(0, 100), run(100, 150, 1, 0), run(150, 200, 2, 0), run(200, 210, 3, 0)};
  const auto chosen = choose_files(runs, {file_of(50 + 200), file_of(50 + 56), file_of(10 + 1)});
  CHECK(chosen.size() == 2);
  CHECK(runs[3].file == 0);
}

TEST_CASE("a node has no more files than it may", "[pages]") {
  Runs many;
  std::vector<std::shared_ptr<const NodeContents>> files;
  for (uint32_t i = 0; i < 12; ++i) {
    many.push_back(run(100 * i, 100 * i + 10 + i, i + 1, 0));
    files.push_back(file_of(10 + i));
  }
  CHECK(choose_files(many, files).size() == kMostFiles - 1);
  CHECK(many.front().file == 0);  // the fewest
  CHECK(many.back().file == 1);
}

}  // namespace runtime
