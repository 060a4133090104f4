#include "runtime/scheduler/artefact_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace runtime {
namespace {

using Claim = ArtefactStore::Claim;

TaskPtr some_task(const std::string& id = "t") {
  auto task = std::make_unique<Task>();
  task->job.id = id;
  return task;
}

Built artefact_of(size_t bytes) {
  return Artefact::create({{"main", std::string(bytes, 'x'), true}}, "", 1).value();
}

Claim claim(ArtefactStore& store, const std::string& key) {
  TaskPtr task = some_task();
  Built built;
  return store.claim(key, task, built);
}

TEST_CASE("the first who asks builds, the others wait and are given back", "[artefact]") {
  ArtefactStore store(sys::mebibytes(1));
  Built built;
  TaskPtr first = some_task("first"), second = some_task("second");

  CHECK(store.claim("k", first, built) == Claim::kBuild);
  CHECK(first);
  CHECK(store.claim("k", second, built) == Claim::kWaiting);
  CHECK_FALSE(second);

  std::vector<TaskPtr> waiting = store.settle("k", artefact_of(10), true);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0]->job.id == "second");
  CHECK(store.claim("k", waiting[0], built) == Claim::kBuilt);
  CHECK(std::get<std::shared_ptr<const Artefact>>(built)->bytes == 10);
}

TEST_CASE("what is not kept, or came to nothing, is built again", "[artefact]") {
  ArtefactStore store(sys::mebibytes(1));
  REQUIRE(claim(store, "a") == Claim::kBuild);
  store.settle("a", std::make_shared<const JobResult>(), false);
  CHECK(claim(store, "a") == Claim::kBuild);
  store.give_up("a");
  CHECK(claim(store, "a") == Claim::kBuild);
}

TEST_CASE("the store is bounded; what was used last stays", "[artefact]") {
  ArtefactStore store(sys::kibibytes(40));
  for (const char* key : {"a", "b"}) {
    REQUIRE(claim(store, key) == Claim::kBuild);
    store.settle(key, artefact_of(12 << 10), true);
  }
  CHECK(claim(store, "a") == Claim::kBuilt);
  REQUIRE(claim(store, "c") == Claim::kBuild);

  store.settle("c", artefact_of(12 << 10), true);

  CHECK(claim(store, "a") == Claim::kBuilt);
  CHECK(claim(store, "c") == Claim::kBuilt);
  CHECK(claim(store, "b") == Claim::kBuild);
}

TEST_CASE("an artefact's program can be executed and written to by nobody", "[artefact]") {
  auto artefact =
      Artefact::create({{"main", "#!/bin/true\n", true}, {"x.txt", "x", false}}, "main", 1).value();

  REQUIRE(artefact->program);
  CHECK((::fcntl(artefact->program.get(), F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK((::fcntl(artefact->program.get(), F_GET_SEALS) & F_SEAL_WRITE) != 0);
  REQUIRE(artefact->files.size() == 1);
  CHECK(artefact->files[0].path == "x.txt");
}

}  // namespace
}  // namespace runtime
