#include "tools/cli/batch/resume.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "sandbox/sys/file.h"
#include "tools/cli/batch/line_reader.h"

namespace cli {
namespace {

using nlohmann::json;

constexpr size_t kLongestResult = size_t{1} << 30;

struct Heading {
  std::string id, label;
};

// Only `id` and `label`; the rest, which may be large, is parsed but never built.
std::optional<Heading> heading_of(std::string_view text) {
  bool wanted = false;
  auto keep = [&wanted](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) {
      wanted = parsed == "id" || parsed == "label";
      return true;
    }
    return depth == 0 || wanted;
  };
  json object = json::parse(text, keep, false);
  if (!object.is_object()) return std::nullopt;
  auto id = object.find("id"), label = object.find("label");
  if (id == object.end() || label == object.end()) return std::nullopt;
  if (!id->is_string() || !label->is_string()) return std::nullopt;
  return Heading{id->get<std::string>(), label->get<std::string>()};
}

void keep_line(EarlierResults& earlier, const Line& line, Heading heading) {
  earlier.keep = line.end;
  earlier.wants_newline = !line.complete;
  if (heading.label == "Cancelled") return;
  bool trouble = heading.label == "BadJob" || heading.label == "SandboxError";
  earlier.by_id[std::move(heading.id)] = {std::move(heading.label),
                                          trouble ? Tally::Kind::kTrouble : Tally::Kind::kVerdict};
}

}  // namespace

sys::Result<EarlierResults> read_results(int fd) {
  EarlierResults earlier;
  LineReader reader(kLongestResult);
  for (;;) {
    while (std::optional<Line> line = reader.next()) {
      std::optional<Heading> heading = heading_of(line->text);
      if (heading) {
        keep_line(earlier, *line, *std::move(heading));
      } else if (line->complete) {
        return sys::Error::because(fmt::format("line {} is not a result", line->number));
      }
    }
    if (reader.finished()) return earlier;
    TRY(reader.fill(fd));
  }
}

sys::Result<void> mend_results(int fd, const EarlierResults& earlier) {
  if (::ftruncate(fd, static_cast<off_t>(earlier.keep)) != 0) {
    return sys::Error::from_errno("cut the torn last line off");
  }
  if (earlier.wants_newline) TRY(sys::write_all(fd, "\n"));
  return {};
}

}  // namespace cli
