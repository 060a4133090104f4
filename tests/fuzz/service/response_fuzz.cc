// What another router answers to a request that was passed on to it. The first byte says how long
// the pieces are: an answer means the same however the network cut it.

#include "sandbox/sys/result.h"
#include "service/http/response_reader.h"
#include "tests/fuzz/input.h"

namespace {

using service::ResponseReader;

struct Read {
  ResponseReader::State state;
  int status;
  service::Headers headers;
  std::string body;
};

Read read(std::string_view bytes, size_t piece) {
  ResponseReader reader;
  std::string body;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    body += reader.take_body();
  }
  reader.end();
  body += reader.take_body();
  VERIFY(reader.state() == ResponseReader::State::kComplete ||
         reader.state() == ResponseReader::State::kBroken);
  return {reader.state(), reader.status(), reader.headers(), body};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t piece = size_t{1} + input.byte();
  const std::string_view bytes = input.rest();
  const Read whole = read(bytes, bytes.size() + 1);
  const Read cut = read(bytes, piece);
  // A head that is too long is found sooner in pieces.
  if (bytes.size() <= ResponseReader::kLongestHead) VERIFY(whole.state == cut.state);
  if (whole.state != ResponseReader::State::kComplete || cut.state != whole.state) return 0;
  VERIFY(whole.status == cut.status && whole.status >= 200 && whole.status <= 599);
  VERIFY(whole.headers == cut.headers && whole.body == cut.body);
  size_t head = 0;
  for (const auto& [name, value] : whole.headers) {
    head += name.size() + value.size();
    VERIFY(value.find_first_of("\r\n") == value.npos && name.find_first_of("\r\n: ") == name.npos);
  }
  VERIFY(head <= bytes.size());
  return 0;
}
