#include "service/apis/judge0/teller.h"

#include <fmt/format.h>

#include <utility>

#include "service/apis/judge0/answer.h"
#include "service/apis/judge0/writing.h"

namespace service::judge0 {

namespace {

constexpr size_t kPartOfHeld = 8;  // one of so many parts of what all may hold is for callbacks

}  // namespace

// The bytes of one callback.
class Teller::Held {
 public:
  Held(std::shared_ptr<std::atomic<size_t>> all, Allowance::Share share)
      : all_(std::move(all)), share_(std::move(share)) {}
  Held(const Held&) = delete;
  ~Held() { *all_ -= share_.bytes(); }

  bool resize(size_t bytes, size_t most) {
    const size_t before = share_.bytes();
    if (bytes > before && *all_ + bytes - before > most) return false;
    if (!share_.resize(bytes)) return false;
    *all_ += bytes - before;  // modulo its range
    return true;
  }

 private:
  const std::shared_ptr<std::atomic<size_t>> all_;
  Allowance::Share share_;
};

Teller::Teller(const ApiContext& context, const CallbacksMaker& maker)
    : rested_(context.rested), loop_(context.loop), most_held_(context.most_held / kPartOfHeld) {
  if (!maker) return;
  callbacks_ = maker({.loop = context.loop,
                      .rested = context.rested,
                      .note = [&log = context.log](const std::string& what) { log.note(what); }});
  check_ = callbacks_->check();
}

void Teller::tell(const Submission& submission, const Allowance::Share& like) {
  const size_t bytes = submission.ending->bytes();
  auto held = std::make_shared<Held>(held_, like.another());
  if (!held->resize(kTree * bytes, most_held_)) {
    ++dropped_;
    return;
  }
  ++written_;
  write_answer(
      loop_, bytes, [submission] { return Response{.body = callback_body(submission)}; },
      [self = std::weak_ptr(self_), held = std::move(held),
       asked = submission.asked](Response made) {
        const std::shared_ptr<Teller*> here = self.lock();
        if (here) (*here)->send(*asked->callback_url, std::move(made.body), held);
      });
}

void Teller::send(const std::string& url, std::string body, std::shared_ptr<Held> held) {
  --written_;
  if (held->resize(body.size(), most_held_))
    callbacks_->send(url, std::move(body), std::move(held));
  else
    ++dropped_;
  if (is_idle()) rested_();
}

void Teller::append_metrics(std::string& into) const {
  if (!callbacks_) return;
  Callbacks::Counts counts = callbacks_->counts();
  counts.dropped += dropped_;
  into +=
      "# HELP zygo_judge0_callbacks_total Callbacks of submissions that have ended.\n"
      "# TYPE zygo_judge0_callbacks_total counter\n";
  for (const auto& [result, count] :
       {std::pair("answered", counts.answered), std::pair("failed", counts.failed),
        std::pair("dropped", counts.dropped)}) {
    into += fmt::format("zygo_judge0_callbacks_total{{result=\"{}\"}} {}\n", result, count);
  }
}

}  // namespace service::judge0
