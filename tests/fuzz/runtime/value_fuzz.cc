// Value bytes of a hostile program: whatever check() accepts becomes valid JSON and equals itself,
// and whatever it refuses is `null`. The second half of the input is compared with the first.

#include <nlohmann/json.hpp>

#include "runtime/judging/compare.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "sandbox/sys/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  const bool good = runtime::check(input).ok();
  std::string tagged, plain;
  runtime::append_json(input, false, tagged);
  runtime::append_json(input, true, plain);
  VERIFY(good || (tagged == "null" && plain == "null"));
  VERIFY(nlohmann::json::accept(tagged));
  VERIFY(nlohmann::json::accept(plain));
  VERIFY(!runtime::first_difference(input, std::string(input)));

  const std::string_view a = input.substr(0, size / 2), b = input.substr(size / 2);
  const bool differ = runtime::first_difference(a, b).has_value();
  VERIFY(differ == runtime::first_difference(b, a).has_value());
  // What a determined comparison calls the same, the other does, too; and it can be shown.
  for (const bool as_lists : {false, true}) {
    const auto found = runtime::compare_exact_values(a, b, as_lists);
    VERIFY(found.has_value() == runtime::compare_exact_values(b, a, as_lists).has_value());
    VERIFY(!runtime::compare_exact_values(input, std::string(input), as_lists));
    VERIFY(found || as_lists || !differ);
    if (found) VERIFY(runtime::is_utf8(found->expected) && runtime::is_utf8(found->got));
  }

  // One byte changed: still total, and symmetric.
  if (size > 0) {
    std::string changed(input);
    changed[size / 2] = static_cast<char>(changed[size / 2] ^ 1);
    VERIFY(runtime::first_difference(input, changed).has_value() ==
           runtime::first_difference(changed, input).has_value());
  }
  return 0;
}
