// What a job's cell and its process are told, by what the job is.

#include "runtime/scheduler/preparation.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/unit/runtime/scheduler/fake_machine.h"

namespace runtime {
namespace {

struct WarmCatalogue : fake::FakeCatalogue {
  bool is_warm(const TemplateSpec& spec) const override { return spec.runtime && warm; }
  bool warm = true;
};

TemplateSpec interpreter() {
  auto runtime = std::make_shared<RuntimeSpec>();
  runtime->name = "ruby";
  runtime->file = "main.rb";
  runtime->run = {"ruby", "main.rb"};
  runtime->warm = true;
  return {"ruby", {}, "", runtime};
}

bool may_borrow(const TemplateSpec& spec, Job job, bool warm = true) {
  WarmCatalogue catalogue;
  catalogue.warm = warm;
  Task task;
  task.job = std::move(job);
  REQUIRE(make_request(catalogue, spec, task).empty());
  return task.shape().may_borrow;
}

TEST_CASE("a job borrows memory where an interpreter that is warm runs it", "[scheduler]") {
  Job job;
  job.source = "p 1";
  CHECK(may_borrow({"python", {}, ""}, job));
  CHECK(may_borrow(interpreter(), job));
  CHECK_FALSE(may_borrow(interpreter(), job, false));
  job.argv = {"a"};  // it is executed
  CHECK_FALSE(may_borrow(interpreter(), job));
}

TEST_CASE("a job that names its collector's compaction borrows no memory", "[scheduler]") {
  Job job;
  job.source = "p [1, nil].compact";
  CHECK(may_borrow(interpreter(), job));
  SECTION("in its source") { job.source = "GC.start; GC.auto_compact = true"; }
  SECTION("in a file of its own") { job.files.push_back({"a.rb", "GC.compact"}); }
  CHECK_FALSE(may_borrow(interpreter(), job));
}

TEST_CASE("a Python job that names calls that borrowers are refused borrows none", "[scheduler]") {
  Job job;
  job.source = "import os; os.getpgid(0)";
  CHECK(may_borrow({"python", {}, ""}, job));
  SECTION("process groups") { job.source = "import os; os.setpgrp(); os.killpg(0, 15)"; }
  SECTION("madvise, in a file") { job.files.push_back({"a.py", "m.madvise(mmap.MADV_FREE)"}); }
  CHECK_FALSE(may_borrow({"python", {}, ""}, job));
  job.policy.profile = sandbox::Profile::kSubprocess;  // shares its cells with others
  CHECK(may_borrow({"python", {}, ""}, job));
}

}  // namespace
}  // namespace runtime
