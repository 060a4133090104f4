// Tests of the access log: what a command of zygo says of itself there.
#include "service/observe/access_log.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "sandbox/sys/file.h"

namespace service {
namespace {

// The one line that has been written.
struct Written {
  sys::Pipe pipe = sys::make_pipe().value();
  AccessLog log;

  Written(LogFormat format, const std::string& command) : log(format, pipe.writer.get(), command) {}
  std::string line() const {
    char text[1024];
    const ssize_t size = ::read(pipe.reader.get(), text, sizeof text);
    REQUIRE(size > 0);
    return {text, static_cast<size_t>(size)};
  }
};

}  // namespace

TEST_CASE("a note in the access log names the command that it is of", "[service][log]") {
  for (const std::string command : {"serve", "route", "pilot"}) {
    Written text(LogFormat::kText, command);
    text.log.note("read again");
    CHECK_THAT(text.line(), Catch::EndsWith("Z zygo " + command + ": read again\n"));
  }
  Written json(LogFormat::kJson, "route");
  json.log.note("read again");
  CHECK(nlohmann::json::parse(json.line()).at("note") == "read again");
}

}  // namespace service
