// `zygo certify`: a corpus of labelled jobs. What is taken for one is JSON with these labels, and
// the same job without them; a mistake is told with its line.

#include <nlohmann/json.hpp>

#include "tests/fuzz/input.h"
#include "tools/cli/certify/corpus.h"

namespace {

using nlohmann::ordered_json;

void check_line(std::string_view line) {
  const auto job = cli::parse_labelled(line, {});
  if (!job) {
    VERIFY(!job.error().text().empty());
    return;
  }
  // The library refuses numbers beyond its range, such as 1e999.
  ordered_json object = ordered_json::parse(line, nullptr, false);
  if (object.is_discarded()) return;
  const ordered_json label = object.at("label");
  VERIFY(label == (label.is_array() ? ordered_json(job->labels) : ordered_json(job->labels.at(0))));
  VERIFY(label.is_array() || job->labels.size() == 1);
  object.erase("label");
  // Dumped again, numbers may be written in another way, so only the texts are compared.
  const auto plain = runtime::parse_job(object.dump(), {});
  VERIFY(plain.ok() && plain->id == job->job.id && plain->source == job->job.source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::Input(data, size).rest();
  check_line(text.substr(0, text.find('\n')));

  const auto corpus = cli::parse_corpus("corpus", text, {});
  VERIFY(corpus.ok() ? !corpus->empty() : corpus.error().text().starts_with("corpus:"));
  for (size_t i = 0; corpus.ok() && i < corpus->size(); ++i) {
    VERIFY(!(*corpus)[i].labels.empty() && !(*corpus)[i].job.id.empty());
    VERIFY((*corpus)[i].place.starts_with("corpus:"));
  }
  return 0;
}
