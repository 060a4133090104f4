#include "service/admission/encoded_body.h"

#include <fmt/format.h>

#include "service/http/content_coding.h"
#include "service/http/gzip.h"

namespace service {

namespace {

// So much is read or made on the loop: 0.1 ms. Most bodies end within it.
constexpr size_t kAtOnce = size_t{64} << 10;

Response not_understood() {
  Response response = error_response(415, "content_encoding",
                                     "Content-Encoding: only gzip and identity are understood");
  response.headers.emplace_back("Accept-Encoding", "gzip, identity");
  return response;
}

// It keeps the exchange, and with it the bytes that are inflated.
struct Decoding {
  Decoding(ExchangePtr of, size_t limit)
      : exchange(std::move(of)),
        most(limit),
        inflater(exchange->request.body, most, exchange->share.another()) {}

  const ExchangePtr exchange;
  const size_t most;
  Inflater inflater;
  Inflater::State state = Inflater::State::kMore;
};

void conclude(Decoding& decoding, const std::function<void()>& then) {
  Exchange& exchange = *decoding.exchange;
  switch (decoding.state) {
    case Inflater::State::kDone:
      exchange.request.body = decoding.inflater.take_bytes();
      exchange.share = decoding.inflater.take_share();
      return then();
    case Inflater::State::kTooLong:
      return exchange.answer(error_response(
          413, "body_too_large",
          fmt::format("the body is longer than {} bytes when it is inflated", decoding.most)));
    case Inflater::State::kNoRoom:
      return exchange.answer(
          busy_response(503, "memory", "too many bytes of requests are held already", 1));
    case Inflater::State::kMore:
    case Inflater::State::kBroken:
      break;
  }
  exchange.answer(error_response(400, "content_encoding",
                                 "Content-Encoding: the body is not gzip, damaged or cut short"));
}

}  // namespace

void decode_body(const ExchangePtr& exchange, Readers& readers, size_t most,
                 std::function<void()> then) {
  const Coding coding = coding_of_body(exchange->request.headers);
  if (exchange->request.body.empty() || coding == Coding::kIdentity) return then();
  if (coding == Coding::kUnknown) return exchange->answer(not_understood());
  auto decoding = std::make_shared<Decoding>(exchange, most);
  decoding->state = decoding->inflater.step(kAtOnce);
  if (decoding->state != Inflater::State::kMore) return conclude(*decoding, then);
  auto work = [decoding] {
    while (decoding->state == Inflater::State::kMore)
      decoding->state = decoding->inflater.step(kAtOnce);
  };
  readers.read(exchange->client, std::move(work), [decoding, then = std::move(then)] {
    if (decoding->exchange->open()) conclude(*decoding, then);
  });
}

}  // namespace service
