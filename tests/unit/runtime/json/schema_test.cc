#include "runtime/json/schema/schema.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_json.h"

namespace runtime {

using nlohmann::json;

TEST_CASE("the schema of jobs has every field of the table, and its bounds", "[schema]") {
  const json schema = json::parse(job_schema());
  CHECK(schema["required"] == json::array({"source"}));
  CHECK(schema["additionalProperties"] == false);
  for (const Field& field : job_fields()) {
    INFO(field.path);
    const size_t dot = field.path.find('.');
    const json& parent = dot == field.path.npos
                             ? schema
                             : schema["properties"].at(std::string(field.path.substr(0, dot)));
    const json& own = parent["properties"].at(
        std::string(field.path.substr(dot == field.path.npos ? 0 : dot + 1)));
    const std::string description = own.at("description"), value = default_of(field);
    CHECK(description.starts_with(field.meaning));
    CHECK((value == "-" || description.ends_with(" Default: " + value + ".")));
    CHECK_FALSE(own.contains("default"));  // generated clients would want the field in each request
    if (field.kind == FieldKind::kInteger) CHECK(own.at("maximum") == field.max);
  }
}

// The reader of tests tells which fields it knows.
TEST_CASE("the schema of a test has the fields that its reader knows", "[schema]") {
  const auto refused = parse_job(R"({"source": "", "tests": [{"x": 1}]})", {});
  REQUIRE_FALSE(refused.ok());
  const std::string words = refused.error().text();
  const json schema = json::parse(job_schema());
  const json& known = schema.at("properties").at("tests").at("items").at("properties");
  size_t names = 0;
  for (const auto& [name, own] : known.items()) {
    INFO(name);
    CHECK(words.find(name) != words.npos);
    ++names;
  }
  CHECK(names == 8);
}

}  // namespace runtime
