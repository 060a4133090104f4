#include "runtime/values/parts.h"

#include <catch2/catch.hpp>

#include "runtime/values/value.h"

namespace runtime {

using Sizes = std::vector<uint64_t>;

TEST_CASE("an announcement is a line of one form, and every other line is none", "[parts]") {
  CHECK(announced_parts(R"({"parts":[]})") == Sizes{});
  CHECK(announced_parts("{\"parts\":[0,12]}\r") == Sizes{0, 12});
  for (const char* line : {"", "{}", R"({"parts":[1,]})", R"({"parts":[-1]})", R"({"parts":[,1]})",
                           R"({"parts":[1.5]})", R"({"parts":[1],"id":"a"})",
                           R"({"parts":[99999999999999999999]})", R"({"parts":[1 ]})"}) {
    INFO(line);
    CHECK_FALSE(announced_parts(line));
  }
}

TEST_CASE("parts beyond the bounds are objected to, also where their sum does not fit", "[parts]") {
  CHECK_FALSE(objection_to_parts(Sizes{kMaxPartsBytes}));
  CHECK(objection_to_parts(Sizes{kMaxPartsBytes, 1}) == "parts: longer than 1024 MiB together");
  CHECK(objection_to_parts(Sizes{UINT64_MAX, UINT64_MAX}));
  CHECK(objection_to_parts(Sizes(kMaxParts + 1, 0)));
}

TEST_CASE("long bytes of a value are parts where they may be, and count as such", "[parts]") {
  const std::string longer(kLeastPart, 'x'), shorter(kLeastPart - 1, 'y');
  Writer writer;
  writer.container(shim::Tag::kList, 4);
  writer.bytes(longer);
  writer.text(longer);
  writer.bytes(shorter);
  writer.bytes(longer);
  const std::string value = writer.take();

  std::string out, whole;
  std::vector<std::string_view> parts;
  append_json(value, false, out, &parts);
  append_json(value, false, whole);

  CHECK(parts == std::vector<std::string_view>{longer, longer});
  CHECK(bytes_in_parts(value) == 2 * kLeastPart);
  CHECK(out.starts_with(R"([{"$type":"bytes","part":0},"xxx)"));
  CHECK(out.ends_with(R"(,{"$type":"bytes","part":1}])"));
  CHECK(whole.find("part") == whole.npos);
  std::string line;
  append_announcement(parts, line);
  CHECK(announced_parts(line.substr(0, line.size() - 1)) == Sizes{kLeastPart, kLeastPart});
}

}  // namespace runtime
