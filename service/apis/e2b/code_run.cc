#include "service/apis/e2b/code_run.h"

#include <utility>

#include "service/jupyter/answers.h"
#include "service/jupyter/message.h"

namespace service::e2b {

using nlohmann::json;

CodeRun::CodeRun(ExchangePtr exchange, runtime::Loop& loop, const std::string& word)
    : exchange_(std::move(exchange)),
      news_(loop, [this] { look(); }),
      out_(word,
           {[this](const std::string& text) { exchange_->write(stream_record("stdout", text)); },
            [this](const json& said) { say(said); }}) {}

CodeRun::~CodeRun() {
  if (live_) live_->leave();
}

sys::Result<std::shared_ptr<runtime::LiveIo>> CodeRun::open() {
  live_ = TRY(runtime::LiveIo::create([this] { news_.wake(); }));
  live_->take_writer();  // closed at once: there is no input
  return live_;
}

void CodeRun::begin(unsigned executions) {
  has_begun_ = true;
  executions_ = executions;
  exchange_->begin({.body = count_record(executions), .type = "application/json"});
  exchange_->when_room([self = weak_from_this()] {
    if (const auto run = self.lock()) run->look();
  });
}

void CodeRun::say(const json& said) {
  const std::string kind = jupyter::text_of(said, "say");
  if (kind == "done") {
    done_ = jupyter::ending_of(said);
  } else if (kind == "execute_result" || kind == "display_data") {
    const auto content = jupyter::output_of(kind, said, executions_);
    const Is which = kind == "execute_result" ? Is::kMainResult : Is::kDisplayed;
    if (content) exchange_->write(result_record(content->at("data"), which));
  }
}

// False: there is more, and its client has no room for it.
bool CodeRun::pass_on() {
  constexpr size_t kPiece = size_t{64} << 10;
  const auto is_empty = [this] { return new_out_.is_empty() && new_err_.is_empty(); };
  for (;;) {
    if (is_empty() && live_) {
      runtime::LiveIo::News news = live_->take();
      new_out_.put(std::move(news.out));
      new_err_.put(std::move(news.err));
    }
    if (is_empty()) return true;
    if (!exchange_->has_room()) return !exchange_->open();
    exchange_->write(stream_record("stderr", err_.take(new_err_.take(kPiece))));
    out_.take(new_out_.take(kPiece));
  }
}

void CodeRun::look() {
  if (is_over_ || !pass_on() || !end_) return;
  is_over_ = true;
  out_.end();
  exchange_->write(stream_record("stderr", err_.end()));
  exchange_->write(last_record(*end_, done_), std::move(held_));
  exchange_->end();
}

void CodeRun::end(Ended ended, std::shared_ptr<void> held) {
  end_ = std::move(ended.end);
  held_ = std::move(held);
  new_out_.put(std::move(ended.rest.out));
  new_err_.put(std::move(ended.rest.err));
  // Nobody else holds it from here on; an exchange that is over would do so for ever.
  if (exchange_->open()) exchange_->when_room([self = shared_from_this()] { self->look(); });
  look();
}

}  // namespace service::e2b
