#include "service/apis/native/batch_reader.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

const std::string kJob =
    R"("source": "1", "mode": "call", "func": "f", "inputs": [{"$type": "bytes", "part": 0}]})";

std::string calls_of(const BatchReader::Item& item) {
  const auto* job = std::get_if<runtime::Job>(&item.content);
  return job ? job->calls : std::get<std::string>(item.content);
}

}  // namespace

TEST_CASE("a batch that is answered as it runs may have raw parts in front of jobs", "[service]") {
  const std::string body =
      "{\"parts\":[3]}\na\nb{\"id\": \"a\", " + kJob + "\n{\"id\": \"b\", " + kJob + "\n";
  BatchReader reader({}, body, {}, BatchReader::PartsAre::kRead);
  CHECK_FALSE(reader.wants_parts());

  const auto with = reader.next(), without = reader.next();

  REQUIRE((with && without));
  CHECK(calls_of(*with).find("a\nb") != std::string::npos);
  CHECK(calls_of(*without).find("no such part") != std::string::npos);
  CHECK(reader.wants_parts());
  CHECK_FALSE(reader.next());
}

TEST_CASE("a job whose parts are refused is none, and the rest goes on", "[service]") {
  const std::string body =
      "{\"parts\":[3]}\na\nb{\"id\": \"a\", " + kJob + "\n{\"id\": \"b\", \"source\": \"1\"}\n";
  BatchReader reader({}, body, {});

  const auto refused = reader.next(), next = reader.next();

  REQUIRE((refused && next));
  CHECK(refused->id == "a");
  CHECK(calls_of(*refused).find("answered as it runs") != std::string::npos);
  CHECK(std::holds_alternative<runtime::Job>(next->content));
  CHECK_FALSE(reader.wants_parts());
}

TEST_CASE("a body that ends within its parts has a result that says so", "[service]") {
  for (const char* body : {"{\"parts\":[9]}\nabc", "{\"parts\":[9]}", "{\"parts\":[9]}\n"}) {
    INFO(body);
    BatchReader reader({}, body, {}, BatchReader::PartsAre::kRead);
    const auto item = reader.next();
    REQUIRE(item);
    CHECK(calls_of(*item).find("ends within") != std::string::npos);
    CHECK_FALSE(reader.next());
  }
}

}  // namespace service
