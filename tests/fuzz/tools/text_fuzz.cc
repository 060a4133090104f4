// Text for people and for JSON, out of any bytes: UTF-8 repaired, controls escaped, cut and
// painted.

#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"
#include "tools/cli/run/verdict_text.h"
#include "tools/cli/text.h"
#include "tools/cli/units.h"

namespace {

using runtime::is_utf8;

constexpr std::string_view kHidden[] = {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",
                                        "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c"};

void check_harmless(std::string_view shown, cli::Lines lines) {
  VERIFY(is_utf8(shown));
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto c = static_cast<uint8_t>(shown[i]);
    const bool kept = lines == cli::Lines::kKeep && (c == '\n' || c == '\t');
    VERIFY(kept || (c >= 0x20 && c != 0x7f));
    VERIFY(c != 0xc2 || static_cast<uint8_t>(shown[i + 1]) >= 0xa0);  // C1
    if (c != 0xe2 && c != 0xd8) continue;
    for (std::string_view hidden : kHidden) VERIFY(!shown.substr(i).starts_with(hidden));
  }
}

void repair(std::string_view bytes) {
  const std::string repaired = runtime::repaired_utf8(bytes);
  VERIFY(is_utf8(repaired));
  VERIFY(repaired == bytes || !is_utf8(bytes));
  VERIFY(runtime::repaired_utf8(repaired) == repaired);

  std::string quoted;
  const runtime::Repair made = runtime::append_json_string(bytes, quoted);
  const auto parsed = nlohmann::json::parse(quoted, nullptr, false);
  VERIFY(parsed.is_string() && parsed.get<std::string>() == repaired);
  VERIFY((made == runtime::Repair::kNone) == is_utf8(bytes));
}

void cut(std::string_view text, size_t limit) {
  const std::string_view head = runtime::utf8_head(text, limit);
  const std::string_view tail = runtime::utf8_tail(text, limit);
  VERIFY(head.size() <= limit && tail.size() <= limit && text.starts_with(head) &&
         text.ends_with(tail));
  if (!is_utf8(text)) return;
  VERIFY(is_utf8(head) && is_utf8(tail));
  VERIFY(text.size() <= limit ? head == text : limit - head.size() < 4);
  const std::string clipped = cli::clip(text, limit);
  VERIFY(is_utf8(clipped) && cli::columns_of(clipped) <= limit);
}

void base64(std::string_view bytes) {
  std::string encoded, decoded, hostile;
  runtime::append_base64(bytes, encoded);
  VERIFY(runtime::append_from_base64(encoded, decoded) && decoded == bytes);
  (void)runtime::append_from_base64(bytes, hostile);
}

void units(std::string_view text) {
  if (const auto size = cli::parse_size(text)) {
    VERIFY(size->count <= uint64_t{1} << 50);
    VERIFY(!cli::format_size(size->count).empty());
  }
  if (const auto time = cli::parse_duration(text)) VERIFY(time->count() > 0);
}

void verdict(fuzz::Input input) {
  runtime::JobResult result;
  result.verdict.outcome = static_cast<runtime::Outcome>(
      input.byte() % (static_cast<unsigned>(runtime::Outcome::kSandboxError) + 1));
  result.verdict.exception_type = input.text();
  result.exit = runtime::ExitStatus{input.flag(), input.byte()};
  result.exception = runtime::Exception{"", input.text(), "", -1};
  constexpr const char* kKeys[] = {"limit", "limit_bytes", "measured_ms", "line",
                                   "errno", "syscall",     "argument",    "count"};
  for (int i = 0; i < 4; ++i) {
    const std::string key = input.flag() ? kKeys[input.byte() % std::size(kKeys)] : input.text();
    if (input.flag()) {
      result.verdict.detail.emplace_back(key, input.number<int64_t>());
    } else {
      result.verdict.detail.emplace_back(key, input.text());
    }
  }
  check_harmless(cli::verdict_line(result, cli::Style(false)), cli::Lines::kEscape);
  (void)cli::exit_code(result);
  (void)cli::exit_code_of_json(result);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t limit = input.byte();
  const std::string_view bytes = input.rest();
  repair(bytes);
  cut(bytes, limit);
  for (cli::Lines lines : {cli::Lines::kKeep, cli::Lines::kEscape}) {
    check_harmless(cli::escape_controls(bytes, lines), lines);
  }
  base64(bytes);
  units(bytes);
  verdict(fuzz::Input(data, size));
  return 0;
}
