#include "tools/cli/batch/resume.h"

#include <catch2/catch.hpp>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

sys::OwnedFd file_with(const std::string& text) {
  sys::OwnedFd file = sys::memfd("results", 0).value();
  REQUIRE(sys::write_all(file.get(), text).ok());
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string content(int fd) {
  ::lseek(fd, 0, SEEK_SET);
  return sys::read_all(fd).value();
}

const std::string kA = R"({"id":"a","label":"OK","stdout":{"text":"id"}})"
                       "\n";
const std::string kB = R"({"id":"b","label":"Cancelled"})"
                       "\n";
const std::string kC = R"({"id":"c","tag":{"id":"x","label":"y"},"label":"SandboxError"})"
                       "\n";

}  // namespace

TEST_CASE("resume knows every result but the cancelled ones", "[cli][resume]") {
  sys::OwnedFd file = file_with(kA + kB + kC);

  EarlierResults earlier = read_results(file.get()).value();

  CHECK(earlier.by_id.size() == 2);
  CHECK(earlier.by_id.at("a").label == "OK");
  CHECK(earlier.by_id.at("c").kind == Tally::Kind::kTrouble);
}

TEST_CASE("a torn last line is cut off", "[cli][resume]") {
  sys::OwnedFd file = file_with(kA + kC.substr(0, 30));

  EarlierResults earlier = read_results(file.get()).value();
  REQUIRE(mend_results(file.get(), earlier).ok());

  CHECK(earlier.by_id.size() == 1);
  CHECK(content(file.get()) == kA);
}

TEST_CASE("a last line that lacks only its newline is kept, and gets one", "[cli][resume]") {
  sys::OwnedFd file = file_with(kA + kC.substr(0, kC.size() - 1));

  EarlierResults earlier = read_results(file.get()).value();
  REQUIRE(mend_results(file.get(), earlier).ok());

  CHECK(earlier.by_id.size() == 2);
  CHECK(content(file.get()) == kA + kC);
}

TEST_CASE("a file that is not one of results is refused untouched", "[cli][resume]") {
  sys::OwnedFd file = file_with("dear diary\n" + kA);

  auto earlier = read_results(file.get());

  REQUIRE_FALSE(earlier.ok());
  CHECK(earlier.error().text() == "line 1 is not a result");
}

TEST_CASE("an empty results file resumes from the start", "[cli][resume]") {
  sys::OwnedFd file = file_with("");

  CHECK(read_results(file.get()).value().by_id.empty());
}

}  // namespace cli
