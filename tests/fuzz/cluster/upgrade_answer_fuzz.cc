// What a hostile router answers to a pilot that asks to join. The first byte says how long the
// pieces are: an answer means the same however the network cut it, once it is finished, and its end
// finishes it.

#include "cluster/link/upgrade.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "tests/fuzz/input.h"

namespace {

using State = cluster::UpgradeAnswer::State;

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

void check(const cluster::UpgradeAnswer& answer, std::string_view bytes) {
  switch (answer.state) {
    case State::kUnfinished:
      VERIFY(answer.why.empty());
      VERIFY(bytes.size() < cluster::kLongestAnswerHead + cluster::kLongestAnswerBody ||
             bytes.find("\r\n\r\n") < cluster::kLongestAnswerHead);
      return;
    case State::kOpen:
      VERIFY(answer.head <= bytes.size() && bytes.substr(0, answer.head).ends_with("\r\n\r\n"));
      return;
    case State::kRefused:
      VERIFY(!answer.why.empty() && answer.why.size() < 1000 && runtime::is_utf8(answer.why));
      for (size_t at = 0; at < answer.why.size(); ++at)
        VERIFY(runtime::unseen_length(std::string_view(answer.why).substr(at)) == 0);
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t piece = size_t{1} + input.byte();
  const std::string_view bytes = input.rest();
  const auto whole = cluster::read_upgrade_answer(bytes, true, kKey);
  check(whole, bytes);
  VERIFY(whole.state != State::kUnfinished);
  for (size_t come = 0; come < bytes.size(); come += piece) {
    const auto part = cluster::read_upgrade_answer(bytes.substr(0, come), false, kKey);
    check(part, bytes.substr(0, come));
    if (part.state == State::kUnfinished) continue;
    VERIFY(part.state == whole.state && part.head == whole.head && part.why == whole.why);
    break;
  }
  return 0;
}
