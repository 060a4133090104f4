// `zygo batch`: a stream of job lines that comes in pieces, and the results file that --resume
// finds. The first byte is the size of the pieces, the second the longest line.

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "runtime/json/result/result_json.h"
#include "runtime/values/value.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"
#include "tools/cli/batch/count_lines.h"
#include "tools/cli/batch/job_lines.h"
#include "tools/cli/batch/line_reader.h"
#include "tools/cli/batch/resume.h"

namespace {

struct Kept {
  size_t number, end;
  std::string text;
  bool too_long, complete;
  bool operator==(const Kept&) const = default;
};

void drain(cli::LineReader& reader, std::vector<Kept>& into) {
  while (auto line = reader.next()) {
    into.push_back(
        {line->number, line->end, std::string(line->text), line->too_long, line->complete});
  }
}

std::vector<Kept> lines_of(std::string_view bytes, size_t piece, size_t longest) {
  cli::LineReader reader(longest);
  std::vector<Kept> lines;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.append(bytes.substr(at, piece));
    drain(reader, lines);
  }
  reader.finish();
  drain(reader, lines);
  return lines;
}

// The lines of the text, found without a reader.
std::vector<Kept> expected_lines(std::string_view bytes, size_t longest) {
  std::vector<Kept> lines;
  size_t number = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t newline = bytes.find('\n', at);
    const bool complete = newline != std::string_view::npos;
    const std::string_view text = bytes.substr(at, complete ? newline - at : newline);
    at += text.size() + (complete ? 1 : 0);
    ++number;
    const bool too_long = text.size() > longest;
    const bool blank = text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if (blank && !too_long) continue;
    lines.push_back({number, at, too_long ? "" : std::string(text), too_long, complete});
  }
  return lines;
}

// Every line becomes a job or a result, and no two have the same id.
void run(const std::vector<Kept>& lines, const cli::EarlierResults& earlier) {
  cli::JobLines jobs({}, earlier);
  std::unordered_set<std::string> ids;
  for (const Kept& kept : lines) {
    cli::Line line{.number = kept.number,
                   .end = kept.end,
                   .text = kept.text,
                   .too_long = kept.too_long,
                   .complete = kept.complete,
                   .parts = {},
                   .objection = {}};
    const auto read = jobs.read(std::move(line));
    if (const auto* job = std::get_if<runtime::Job>(&read)) {
      VERIFY(!job->id.empty() && ids.insert(job->id).second && !earlier.by_id.contains(job->id));
      VERIFY(runtime::check(runtime::encode_request(*job)));
    } else if (const auto* result = std::get_if<runtime::JobResult>(&read)) {
      VERIFY(!result->id.empty() && ids.insert(result->id).second);
      std::string text;
      append_result(*result, text);
      VERIFY(nlohmann::json::accept(text));
    }
  }
}

// The kept part of a results file is read again as the same, and nothing but a torn end is cut off.
cli::EarlierResults resume(const fuzz::MemoryFile& file, std::string_view bytes) {
  file.hold(bytes);
  auto earlier = cli::read_results(file.fd());
  if (!earlier) {
    VERIFY(file.content() == bytes);
    return {};
  }
  VERIFY(earlier->keep <= bytes.size());
  const std::string_view cut = bytes.substr(earlier->keep);
  const std::string_view whole_lines = cut.substr(0, cut.rfind('\n') + 1);
  VERIFY(whole_lines.find_first_not_of(" \t\r\v\f\n") == std::string_view::npos);
  VERIFY(::lseek(file.fd(), 0, SEEK_END) >= 0);
  VERIFY(cli::mend_results(file.fd(), *earlier));
  const std::string mended = file.content();
  VERIFY(mended.empty() || mended.back() == '\n');
  file.hold(mended);
  const auto again = cli::read_results(file.fd());
  VERIFY(again && again->by_id.size() == earlier->by_id.size());
  VERIFY(again->keep == mended.size() && !again->wants_newline);
  return std::move(earlier).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile jobs_file, results_file;
  fuzz::Input input(data, size);
  const size_t piece = input.byte() + size_t{1};
  const size_t longest = input.byte() * size_t{8};
  const std::string_view stream = input.up_to('\0');
  const std::string_view results = input.rest();

  const std::vector<Kept> lines = lines_of(stream, piece, longest);
  VERIFY(lines == expected_lines(stream, longest));
  VERIFY(lines_of(stream, stream.size() + 1, longest) == lines);
  jobs_file.hold(stream);
  VERIFY(cli::count_lines(jobs_file.fd()) == expected_lines(stream, stream.size()).size());
  run(lines, resume(results_file, results));
  return 0;
}
