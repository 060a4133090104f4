// Raw parts in front of lines, in a stream that comes in pieces and in the body of a batch. The
// first byte is the size of the pieces, the second the longest line, and the third how many parts
// are made of what follows and read again.

#include <unordered_set>

#include "runtime/values/parts.h"
#include "service/apis/native/batch_reader.h"
#include "tests/fuzz/input.h"
#include "tools/cli/batch/line_reader.h"

namespace {

struct Kept {
  size_t number, end;
  std::string text;
  runtime::Parts parts;
  std::string objection;
  bool operator==(const Kept&) const = default;
};

// Reads as the loop of a batch reads.
void drain(cli::LineReader& reader, std::vector<Kept>& into) {
  while (auto line = reader.next()) {
    auto sizes = runtime::announced_parts(line->text);
    if (!sizes) {
      into.push_back({line->number, line->end, std::string(line->text), std::move(line->parts),
                      std::move(line->objection)});
    } else if (auto objection = runtime::objection_to_parts(*sizes)) {
      reader.pass_over(runtime::total_of(*sizes), *std::move(objection));
    } else {
      VERIFY(sizes->size() <= runtime::kMaxParts);
      reader.expect(*std::move(sizes));
    }
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

// The same bytes come out that went in, wherever the pieces end; and no byte is in two places.
void check_stream(std::string_view bytes, size_t piece, size_t longest) {
  const std::vector<Kept> lines = lines_of(bytes, piece, longest);
  VERIFY(lines == lines_of(bytes, bytes.size() + 1, longest));
  size_t held = 0;
  for (const Kept& line : lines) {
    held += line.text.size();
    for (const std::string& part : line.parts) held += part.size();
    VERIFY(line.end <= bytes.size());
  }
  VERIFY(held <= bytes.size());
}

void check_round_trip(fuzz::Input input, size_t count, size_t piece) {
  runtime::Parts parts;
  std::string stream;
  for (size_t i = 0; i < count; ++i) parts.push_back(input.text());
  runtime::append_announcement(std::vector<std::string_view>(parts.begin(), parts.end()), stream);
  for (const std::string& part : parts) stream += part;
  stream += "{}\n{}\n";
  const std::vector<Kept> lines = lines_of(stream, piece, stream.size());
  VERIFY(lines.size() == 2 && lines[0].text == "{}" && lines[0].parts == parts);
  VERIFY(lines[1].text == "{}" && lines[1].parts.empty());
}

void check_body(const std::string& bytes, service::BatchReader::PartsAre parts) {
  auto body = service::BatchBody::read(bytes);
  if (!body) return;
  service::BatchReader reader(std::move(body).value(), bytes, {}, parts);
  std::unordered_set<std::string> ids;
  for (size_t left = bytes.size() + 1; auto item = reader.next(); --left) {
    VERIFY(left > 0 && ids.insert(item->id).second);
  }
  VERIFY(reader.at_end());
  VERIFY(!reader.wants_parts() || parts == service::BatchReader::PartsAre::kRead);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t piece = input.byte() + size_t{1};
  const size_t longest = input.byte() * size_t{8};
  const size_t count = input.byte() % 9;
  check_round_trip(input, count, piece);
  const std::string stream(input.rest());
  check_stream(stream, piece, longest);
  check_body(stream, service::BatchReader::PartsAre::kRead);
  check_body(stream, service::BatchReader::PartsAre::kRefused);
  return 0;
}
