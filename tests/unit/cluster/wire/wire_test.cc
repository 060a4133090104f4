#include <catch2/catch.hpp>

#include "cluster/router/start_message.h"
#include "cluster/wire/frames.h"
#include "cluster/wire/messages.h"
#include "images/sha256.h"
#include "runtime/remote/job_wire.h"

using namespace cluster;

TEST_CASE("frames come out as they went in", "[cluster]") {
  FrameWriter writer;
  writer.add("one");
  writer.add(std::string(300, 'x'));
  const std::string bytes = writer.take();
  CHECK(writer.empty());
  FrameReader reader(bytes);
  CHECK(reader.next() == "one");
  CHECK(reader.next() == std::string(300, 'x'));
  CHECK_FALSE(reader.next());
  CHECK(reader.ok());
}

TEST_CASE("bytes that are no frames are not read", "[cluster]") {
  using namespace std::string_literals;
  for (const std::string& bytes : {"\1\0\0"s, "\2\0\0\0x"s, "\0\0\0\0"s, "\xff\xff\xff\xff"s}) {
    FrameReader reader(bytes);
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.ok());
  }
}

TEST_CASE("a hello that is none is refused by its field", "[cluster]") {
  const auto refused = [](auto change) {
    Hello hello{.name = "p", .zygo = "0.1.0", .workers = 2, .templates = {"python"}};
    change(hello);
    return objection_to(hello);
  };
  CHECK(refused([](Hello&) {}).empty());
  CHECK(refused([](Hello& h) { h.name = "\xc3\xbc"; }).empty());
  CHECK(refused([](Hello& h) { h.workers = 0; }).starts_with("workers"));
  CHECK(refused([](Hello& h) { h.workers = 1u << 20; }).starts_with("workers"));
  CHECK(refused([](Hello& h) { h.level = 9; }).starts_with("level"));
  CHECK_FALSE(refused([](Hello& h) { h.magic = 1; }).empty());
  for (const std::string& name :
       {std::string("\xff"), std::string("a\nb"), std::string(300, 'x'), std::string("\x1b[31m")}) {
    CHECK(refused([&](Hello& h) { h.name = name; }).starts_with("its names"));
    CHECK(refused([&](Hello& h) { h.engine = name; }).starts_with("its names"));
    CHECK(refused([&](Hello& h) { h.zygo = name; }).starts_with("its names"));
    CHECK(refused([&](Hello& h) { h.templates = {name}; }).starts_with("its names"));
  }
  CHECK_FALSE(refused([](Hello& h) { h.name.clear(); }).empty());
}

TEST_CASE("the newest version that both sides speak is spoken", "[cluster]") {
  CHECK(common_version(kOldestVersion, kNewestVersion) == kNewestVersion);
  CHECK(common_version(kOldestVersion, kNewestVersion + 3) == kNewestVersion);
  CHECK(common_version(0, kOldestVersion) == kOldestVersion);
  CHECK(common_version(kNewestVersion + 1, kNewestVersion + 2) == 0);
  CHECK(common_version(0, kOldestVersion - 1) == 0);
}

// What pilots and routers that are in use have sent must be read for as long as their version is
// spoken. A change of these bytes is a new version, which writes the old ones to older peers.
TEST_CASE("the bytes of version 1 stay what they are", "[cluster]") {
  runtime::Job job;
  job.id = "a";
  job.source = "print(1)";
  job.files.push_back({"f.txt", "text"});
  runtime::TestCase& test = job.tests.emplace_back();
  test.name = "t";
  test.stdin_bytes = "in";
  test.expect = "out";
  runtime::WireWriter start = message(Kind::kStart);
  start(StartHead{.number = 7, .flags = StartHead::kLive});
  runtime::write_job(job, start);
  CHECK(images::sha256_of(start.bytes()) ==
        "7352ee3476391ebc890853da26adecdb21db1a2b66eebdb061dc042300bbbfae");

  runtime::JobResult result;
  result.id = "a";
  result.out.bytes = "1\n";
  runtime::WireWriter end = message(Kind::kResult, 7);
  end(true);
  runtime::write_result(result, end);
  CHECK(images::sha256_of(end.bytes()) ==
        "786ba061075cc5782b75d6d2d2efa502aaaa5bbe25351ccc8e5cd85778650de4");

  runtime::WireWriter hello = message(Kind::kHello);
  hello(Hello{.newest = 1, .name = "p", .zygo = "0.1.0", .workers = 2, .templates = {"python"}});
  CHECK(images::sha256_of(hello.bytes()) ==
        "dffab5d8dad2a0ee962994454969912c8265c7ecba87e40ed34dbe0edb6c5cb1");
}

TEST_CASE("a start has its trace for a pilot that speaks version 2, and not for an older one",
          "[cluster]") {
  runtime::Job job;
  job.id = "a";
  job.source = "print(1)";
  job.watch = std::make_shared<runtime::JobWatch>();
  runtime::WireWriter without, old, now;
  write_start(7, job, kNewestVersion, without);
  job.watch->trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  write_start(7, job, 1, old);
  write_start(7, job, 2, now);
  CHECK(old.bytes() == without.bytes());
  CHECK(now.bytes().ends_with(job.watch->trace));
  StartHead head;
  runtime::Job read;
  std::string trace;
  runtime::WireReader in(now.bytes());
  in(head);
  CHECK(head.flags == StartHead::kTrace);
  REQUIRE(runtime::read_job(in, read));
  in(trace);
  CHECK(in.at_end());
  CHECK(trace == job.watch->trace);
  CHECK(images::sha256_of(now.bytes()) ==
        "c526149daf99866bd4e53ff1e9685f6884d9c58859710203ee6926f62529be80");
}
