// Tests of what keeps tenants apart, where it needs no process: templates and blobs.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "runtime/builds/blobs.h"
#include "runtime/json/job/job_json.h"
#include "runtime/scheduler/pools/tenant_templates.h"

namespace runtime {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/zygo-tenants-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

TenantTemplate idle(const char* tenant, int used) {
  return {tenant, std::chrono::seconds(used), false};
}
TenantTemplate busy(const char* tenant, int used) {
  return {tenant, std::chrono::seconds(used), true};
}

}  // namespace

TEST_CASE("who holds the most templates gives up the oldest of them", "[tenants]") {
  CHECK(next_to_leave({idle("a", 5), idle("b", 1), idle("a", 3), idle("a", 9)}, "c") == 2u);
  CHECK(next_to_leave({idle("a", 5), idle("b", 1)}, "c") == 1u);  // all alike: the oldest
}

TEST_CASE("a tenant that wants one more than the others have gives up its own", "[tenants]") {
  CHECK(next_to_leave({idle("a", 5), idle("b", 1)}, "a") == 0u);
  CHECK(next_to_leave({idle("b", 1), idle("a", 7), idle("a", 5), idle("b", 0)}, "a") == 2u);
}

TEST_CASE("a template that is in use stays, whoever it belongs to", "[tenants]") {
  CHECK(next_to_leave({busy("a", 1), busy("a", 2), idle("b", 9)}, "c") == 2u);
  CHECK_FALSE(next_to_leave({busy("a", 1), busy("b", 2)}, "c"));
  CHECK_FALSE(next_to_leave({}, "c"));
}

TEST_CASE("a tenant finds its own blobs and no others", "[tenants][blobs]") {
  Folder folder;
  const BlobStore common(folder.path + "/blobs");
  const BlobStore ann = common.of("ann"), bob = common.of("bob");
  const std::string of_ann = ann.put("secret").value();

  CHECK(ann.get(of_ann).value() == "secret");
  CHECK(ann.size_of(of_ann).value() == 6);
  for (const BlobStore& other : {bob, common}) {
    CHECK_FALSE(other.get(of_ann));
    CHECK_FALSE(other.size_of(of_ann));
    CHECK_FALSE(other.remove(of_ann));
  }
  CHECK(bob.get(of_ann).error().text() ==
        BlobStore(folder.path + "/empty").get(of_ann).error().text());
  CHECK(common.list().value().empty());

  const std::string shared = common.put("for all who have no tenant").value();
  CHECK_FALSE(ann.get(shared));
  CHECK(common.list().value().size() == 1);
}

TEST_CASE("a job's blobs are those of its tenant", "[tenants][blobs]") {
  Folder folder;
  const BlobStore common(folder.path + "/blobs");
  Job job;
  job.source_blob = common.of("ann").put("print(1)").value();

  Job bobs = job;
  CHECK_FALSE(common.of("bob").fill_in(bobs));
  REQUIRE(common.of("ann").fill_in(job));
  CHECK(job.source == "print(1)");
}

TEST_CASE("a tenant that fills the store of blobs does so at its own cost", "[tenants][blobs]") {
  Folder folder;
  const BlobStore common(folder.path + "/blobs", sys::Bytes{100});
  const std::string modest = common.of("modest").put(std::string(30, 'm')).value();
  std::string last;
  for (char c = 'a'; c < 'k'; ++c) last = common.of("greedy").put(std::string(30, c)).value();

  CHECK(common.of("modest").get(modest));
  CHECK(common.of("greedy").get(last));
}

TEST_CASE("a tenant has a name of plain characters", "[tenants][job]") {
  const auto tenant_of = [](const std::string& name) {
    auto job = parse_job(R"({"source": "1", "tenant": )" + name + "}", {});
    return job ? job->tenant : job.error().text();
  };
  CHECK(tenant_of(R"("team:a.b-c_d@e")") == "team:a.b-c_d@e");
  CHECK(tenant_of(R"("")").empty());
  CHECK(tenant_of(R"("a b")").starts_with("tenant: expected a name"));
  CHECK(tenant_of(R"("a/b")").starts_with("tenant: expected a name"));
  CHECK(tenant_of('"' + std::string(129, 'a') + '"').starts_with("tenant: longer than 128"));
  CHECK(tenant_of("7").starts_with("tenant: expected a string"));
}

}  // namespace runtime
