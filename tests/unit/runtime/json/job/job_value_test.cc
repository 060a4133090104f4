#include "runtime/json/job/job_value.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/json/json_reader.h"
#include "shim/value_format.h"

namespace runtime {

TEST_CASE("an input integer has up to 4300 digits, whatever its sign", "[job][values]") {
  const std::string sign = GENERATE("", "-");
  const std::string longest = sign + std::string(shim::kMaxIntegerDigits, '9');
  std::string calls;

  const std::string fits = "[" + longest + "]", too_long = "[" + longest + "9]";
  JsonReader in(fits), in_too_long(too_long);

  CHECK(read_inputs(in, calls));
  CHECK_FALSE(read_inputs(in_too_long, calls));
  CHECK(in_too_long.error().text() == "[0]: an integer of more than 4300 digits");
}

}  // namespace runtime
