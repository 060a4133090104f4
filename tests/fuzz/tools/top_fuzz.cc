// Reads what `zygo top` gets from whatever answers at its address. The first two bytes are
// the size of the terminal.

#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"
#include "tools/cli/http_client.h"
#include "tools/cli/text.h"
#include "tools/cli/top/top_screen.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const cli::ScreenSize screen{size_t{1} + input.byte(), size_t{1} + input.byte()};
  const std::string_view bytes = input.rest();
  (void)cli::parse_service_url(bytes.substr(0, bytes.find('\n')));
  const auto answer = cli::parse_http_answer(bytes);
  if (answer) VERIFY(answer->status >= 100 && answer->status <= 999);
  const std::string_view json = answer ? std::string_view(answer->body) : bytes;
  auto stats = cli::read_top_stats(json);
  if (!stats) return 0;
  // The same bytes tell of the pilots: both readers take what has any of their fields.
  auto pilots = cli::read_top_pilots(json);
  VERIFY(pilots);
  stats->cluster = *std::move(pilots);
  const auto both = cli::json_with_pilots(json, json);
  VERIFY(both);
  for (const char c : *both) VERIFY(c >= ' ' && c <= '~');
  const auto lines = cli::top_screen(*stats, "here", "", screen, cli::Style());
  VERIFY(lines.size() <= screen.rows);
  for (const std::string& line : lines) {
    VERIFY(cli::columns_of(line) <= screen.columns);
    VERIFY(cli::escape_controls(line, cli::Lines::kEscape) == line);
  }
  VERIFY(cli::top_heading(*stats).size() <= cli::top_line(*stats).size());
  VERIFY(cli::top_line(*stats).find('\n') == std::string::npos);
  return 0;
}
