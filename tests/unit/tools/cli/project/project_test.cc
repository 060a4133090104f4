#include "tools/cli/project/project.h"

#include <catch2/catch.hpp>

#include "tools/cli/project/defaults.h"

namespace {

using cli::parse_project;
using cli::ProjectForm;

std::string error_of(std::string_view text) {
  const auto read = parse_project(text, ProjectForm::kOwnFile);
  return read ? "" : read.error().text();
}

TEST_CASE("a project's file holds a template, limits and templates", "[project]") {
  const auto read = parse_project(
      "template = 'mine'\n[limits]\ncpu_ms = 200\n[templates.mine]\npreload = ['json']\n"
      "setup = 'warm.py'\n",
      ProjectForm::kOwnFile);

  REQUIRE(read.ok());
  const cli::Project& project = **read;
  CHECK(project.template_name == "mine");
  CHECK(project.limits == R"({"cpu_ms":200})");
  REQUIRE(project.templates.size() == 1);
  CHECK(project.templates[0].preload == std::vector<std::string>{"json"});
  CHECK(project.templates[0].setup == "warm.py");
}

TEST_CASE("a pyproject.toml that says nothing of zygo is no project", "[project]") {
  CHECK(!parse_project("[tool.black]\nline-length = 100\n", ProjectForm::kPyproject)->has_value());
  const auto read = parse_project("[tool.zygo.limits]\npids = 8\n", ProjectForm::kPyproject);
  CHECK((*read)->limits == R"({"pids":8})");
}

TEST_CASE("a mistake in a project's file is named by line or field", "[project]") {
  CHECK(error_of("a = \n").find("line 1: ") == 0);
  CHECK(error_of("[.a]\n") == "this is no TOML");  // an assertion of the library
  CHECK(error_of("[limits]\nmemory = 1\n") ==
        "unknown field limits.memory; did you mean memory_mb?");
  CHECK(error_of("[limits]\ncpu_ms = 0\n").find("limits.cpu_ms: ") == 0);
  CHECK(error_of("[limits]\ncpu_ms = '2s'\n") == "limits.cpu_ms: expected a whole number");
  CHECK(error_of("limit = 1\n") == "limit: is unknown; did you mean limits?");
  CHECK(error_of("templates.a.preload = 'json'\n") ==
        "templates.a.preload: expected a list of text");
  CHECK(error_of("[templates.a]\n") == "templates.a: has neither preload nor setup");
  CHECK(error_of("template = 1\n") == "template: expected text");
}

TEST_CASE("a project's file can neither lower isolation nor choose an interpreter", "[project]") {
  for (const char* name : {"level", "require", "python", "image", "profile", "packages"}) {
    const std::string said = error_of(std::string(name) + " = 'minimal'\n");
    CHECK(said ==
          std::string(name) + ": is not for a project; give --" + name + " or the environment");
  }
}

TEST_CASE("a caller's defaults lie over the project's", "[project]") {
  cli::Project project;
  CHECK(cli::job_defaults(project, "")->job.limits.cpu.count() == 5000);
  project.file = "zygo.toml";
  project.limits = R"({"cpu_ms":200,"pids":8})";

  const auto both = cli::job_defaults(project, R"({"limits": {"cpu_ms": 300}})");

  REQUIRE(both.ok());
  CHECK(both->job.limits.cpu.count() == 300);
  CHECK(both->job.limits.pids == 8);
  CHECK(!cli::job_defaults(project, "[]").ok());
}

}  // namespace
