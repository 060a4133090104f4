#include "tools/cli/run/source_template.h"

#include <catch2/catch.hpp>
#include <memory>

using cli::Refusal;
using cli::template_of_source;

namespace {

runtime::TemplateSpec of(const char* name, std::vector<std::string> aliases,
                         std::vector<std::string> extensions) {
  auto runtime = std::make_shared<runtime::RuntimeSpec>();
  runtime->name = name;
  runtime->aliases = std::move(aliases);
  runtime->extensions = std::move(extensions);
  runtime::TemplateSpec spec;
  spec.name = name;
  spec.runtime = std::move(runtime);
  return spec;
}

// "refused: .." or the template's name.
std::string chosen(const std::string& path, std::string_view source = "") {
  runtime::TemplateSpec python;
  python.name = "python";
  const std::vector<runtime::TemplateSpec> known = {
      python, of("bash", {}, {"sh", "bash"}), of("ruby", {"rb"}, {"rb"}),
      of("javascript", {"node", "js"}, {"js", "mjs"}), of("cpp", {"c++"}, {"cpp", "c++"})};
  const auto answer = template_of_source(path, source, known);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return "refused: " + refusal->sentence;
  return std::get<std::string>(answer);
}

}  // namespace

TEST_CASE("a program's ending chooses its template", "[cli]") {
  CHECK(chosen("a.rb") == "ruby");
  CHECK(chosen("some.where/a.c++") == "cpp");
  CHECK(chosen("a.py").empty());
  CHECK(chosen("a.py", "#!/usr/bin/ruby\n").empty());
}

TEST_CASE("an ending that no template is for is refused", "[cli]") {
  CHECK(chosen("a.kt").starts_with("refused: a.kt: no template is for \".kt\""));
  CHECK(chosen("a.").empty());
}

TEST_CASE("without an ending the first line chooses", "[cli]") {
  CHECK(chosen("-", "#!/usr/bin/env ruby\nputs 1\n") == "ruby");
  CHECK(chosen("tool", "#!/bin/sh") == "bash");
  CHECK(chosen("tool", "#! /usr/bin/env -S LANG=C node18 --flag\r\n") == "javascript");
  CHECK(chosen("tool", "#!/usr/bin/python3.11 -I\n").empty());
  CHECK(chosen("some.where/tool", "print(1)\n").empty());
  CHECK(chosen(".hidden", "print(1)\n").empty());
  CHECK(chosen("-", "").empty());
  CHECK(chosen("-", "#!").empty());
  CHECK(chosen("-", "#!/usr/bin/env").empty());
  CHECK(chosen("-", "#!/usr/bin/awk -f\n").starts_with("refused: -: no template runs"));
}
