#include "service/http/gzip.h"

#include <catch2/catch.hpp>

#include "service/http/content_coding.h"

namespace service {
namespace {

using State = Inflater::State;

constexpr size_t kPlenty = size_t{1} << 30, kMost = size_t{1} << 20;

struct Read {
  State state = State::kMore;
  std::string bytes;
  size_t steps = 0, held = 0;
};

// In slices, and what is counted for its client at the end.
Read inflate(const std::string& from, size_t slice = 4096, size_t most = kMost,
             size_t room = kPlenty) {
  const Allowance allowance(room);
  Inflater inflater(from, most, Allowance::Share(allowance, "ann"));
  Read read;
  while (read.state == State::kMore) {
    read.state = inflater.step(slice);
    ++read.steps;
  }
  if (read.state != State::kDone) return read;
  read.bytes = inflater.take_bytes();
  const Allowance::Share share = inflater.take_share();
  read.held = share.bytes();
  CHECK(allowance.held() == read.held);
  return read;
}

std::string letters(size_t count) {
  std::string text;
  for (size_t i = 0; text.size() < count; ++i) text += std::to_string(i * i) + ",";
  text.resize(count);
  return text;
}

bool accepts(const std::string& value) { return accepts_gzip({{"accept-encoding", value}}); }

Coding coding(const std::string& value) { return coding_of_body({{"content-encoding", value}}); }

}  // namespace

TEST_CASE("what was deflated is inflated again, in whatever slices", "[service][gzip]") {
  const std::string text = letters(100'000);
  const std::string gzip = deflated(text).value();
  CHECK(gzip.size() < text.size() / 2);

  for (const size_t slice : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
    const Read read = inflate(gzip, slice);
    CHECK(read.state == State::kDone);
    CHECK(read.bytes == text);
    CHECK(read.held == read.bytes.capacity());
  }
}

TEST_CASE("what does not get shorter is not deflated", "[service][gzip]") {
  CHECK_FALSE(deflated(""));
  CHECK_FALSE(deflated("abc"));
  std::string noise;
  for (unsigned i = 0, x = 1; i < 100'000; ++i)
    noise += static_cast<char>((x = x * 69069 + 1) >> 24);
  CHECK_FALSE(deflated(noise));
}

TEST_CASE("a bomb goes off in slices, and not beyond the limit", "[service][gzip]") {
  const std::string bomb = deflated(std::string(32 * kMost, 'x')).value();
  CHECK(bomb.size() < 32 * kMost / 150);

  const Read read = inflate(bomb, 64 << 10);
  CHECK(read.state == State::kTooLong);
  CHECK(read.steps > 10);
  CHECK(read.steps < 40);
  CHECK(inflate(bomb, 64 << 10, 32 * kMost).state == State::kDone);
  CHECK(inflate(bomb, 64 << 10, 32 * kMost - 1).state == State::kTooLong);
}

TEST_CASE("bytes are counted before they are there, and not held without room", "[service][gzip]") {
  const std::string gzip = deflated(letters(200'000)).value();

  CHECK(inflate(gzip, 4096, kMost, 150'000).state == State::kNoRoom);
  CHECK(inflate(gzip, 4096, kMost, 20'000).state == State::kNoRoom);
  CHECK(inflate(gzip, 4096, kMost, 300'000).state == State::kDone);
}

TEST_CASE("every piece of a stream that is cut short is refused", "[service][gzip]") {
  const std::string gzip = deflated(letters(3000)).value();
  for (size_t size = 0; size < gzip.size(); ++size)
    CHECK(inflate(gzip.substr(0, size)).state == State::kBroken);
}

TEST_CASE("a stream that is damaged is refused, or its bytes are the same", "[service][gzip]") {
  const std::string text = letters(3000), gzip = deflated(text).value();
  for (size_t at = 0; at < gzip.size(); ++at) {
    std::string damaged = gzip;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    const Read read = inflate(damaged);
    CHECK((read.state == State::kBroken || read.bytes == text));
  }
  CHECK(inflate(gzip + "x").state == State::kBroken);
  CHECK(inflate("{\"source\": \"\"}").state == State::kBroken);
}

TEST_CASE("members of a stream are one body, whatever the last says of its length",
          "[service][gzip]") {
  const std::string text = letters(5000), gzip = deflated(text).value();

  CHECK(inflate(gzip + gzip).bytes == text + text);
  CHECK(inflate(gzip + gzip, 1).bytes == text + text);
  CHECK(inflate(gzip + gzip, 4096, 9999).state == State::kTooLong);
}

TEST_CASE("members that hold nothing still end a slice", "[service][gzip]") {
  const std::string empty("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += empty;

  const Read read = inflate(many, 1000);

  CHECK(read.state == State::kDone);
  CHECK(read.bytes.empty());
  CHECK(read.steps == 20);
}

TEST_CASE("the coding of a body is gzip, none, or not understood", "[service][gzip]") {
  CHECK(coding_of_body({}) == Coding::kIdentity);
  for (const char* none : {"", "identity", "IDENTITY, identity", " , "})
    CHECK(coding(none) == Coding::kIdentity);
  for (const char* gzip : {"gzip", "x-gzip", "GZip", " identity , gzip "})
    CHECK(coding(gzip) == Coding::kGzip);
  for (const char* other : {"br", "deflate", "gzip, gzip", "gzip, br", "gzip;q=1", "gzi"})
    CHECK(coding(other) == Coding::kUnknown);
  CHECK(coding_of_body({{"content-encoding", "gzip"}, {"content-encoding", "gzip"}}) ==
        Coding::kUnknown);
}

TEST_CASE("a client takes gzip if it says so, by its weights", "[service][gzip]") {
  CHECK_FALSE(accepts_gzip({}));
  for (const char* yes :
       {"gzip", "GZIP", "deflate, gzip, br", "x-gzip", "*", "gzip;q=0.001", "br;q=1 , gzip ; q=0.5",
        "gzip;q=1.000", "*;q=0, gzip", "identity;q=0.5, *;q=0.5", "gzip;level=1;Q=0.3"})
    CHECK(accepts(yes));
  for (const char* no :
       {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *", "gzip;q=2",
        "gzip;q=", "gzip;q=x", "gzip;q=0.1234", "identity, gzip;q=0.5", "gzipped", "gzip q=1"})
    CHECK_FALSE(accepts(no));
  CHECK(accepts_gzip({{"accept-encoding", "br"}, {"accept-encoding", "gzip"}}));
}

TEST_CASE("text that is not short is worth deflating, bytes and streams are not",
          "[service][gzip]") {
  const std::string body(1024, 'x');
  for (const char* type : {"application/json", "text/plain; version=0.0.4", "image/svg+xml"})
    CHECK(is_worth_deflating({.body = body, .type = type}));
  for (const char* type : {"application/octet-stream", "application/x-ndjson", "text/event-stream"})
    CHECK_FALSE(is_worth_deflating({.body = body, .type = type}));
  CHECK_FALSE(is_worth_deflating({.body = body.substr(1)}));
}

}  // namespace service
