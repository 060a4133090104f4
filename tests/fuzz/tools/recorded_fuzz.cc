// `zygo replay`: results with records. What is taken for one has a job that fits its digests, and
// its result is written as a line that is taken again, with the same job; a mistake is told with
// its line.

#include "runtime/json/job/job_record.h"
#include "runtime/json/job/job_writer.h"
#include "runtime/json/result/result_json.h"
#include "tests/fuzz/input.h"
#include "tools/cli/replay/comparison.h"
#include "tools/cli/replay/recorded.h"

namespace {

void check_line(std::string_view line) {
  const auto read = cli::parse_recorded(line);
  if (!read) {
    VERIFY(!read.error().text().empty());
    return;
  }
  VERIFY(read->result.record || !read->obstacle.empty());
  if (!read->result.record) return;
  VERIFY(read->job.id == read->result.id && !read->job.record);
  std::string again;
  runtime::append_result(read->result, again);
  const auto reread = cli::parse_recorded(again);
  VERIFY(reread.ok() && static_cast<const runtime::JobSpec&>(reread->job) == read->job);
  VERIFY(!cli::difference_of(read->result, reread->result));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::Input(data, size).rest();
  check_line(text.substr(0, text.find('\n')));
  const auto all = cli::parse_all_recorded("results", text);
  VERIFY(all.ok() ? !all->empty() : all.error().text().starts_with("results:"));
  for (size_t i = 0; all.ok() && i < all->size(); ++i)
    VERIFY((*all)[i].place.starts_with("results:"));
  return 0;
}
