#include "service/admission/readers.h"

#include <utility>

namespace service {

namespace {

constexpr unsigned kReadAtOnce = 2;
constexpr size_t kLongBody = size_t{128} << 10;

}  // namespace

void Readers::read(const std::string& client, std::function<void()> read,
                   std::function<void()> then) {
  queue_.push(++last_, client, 0);
  errands_.emplace(last_, Errand{std::move(read), std::move(then)});
  begin();
}

void Readers::read_body(const ExchangePtr& exchange, std::function<void()> read_it,
                        std::function<void()> then) {
  if (exchange->request.body.size() <= kLongBody) {
    read_it();
    return then();
  }
  read(exchange->client, std::move(read_it), [exchange, then = std::move(then)] {
    if (exchange->open()) then();
  });
}

void Readers::begin() {
  while (under_way_ < kReadAtOnce) {
    const std::optional<FairQueue::Ticket> next = queue_.pop();
    if (!next) return;
    Errand errand = std::move(errands_.extract(*next).mapped());
    ++under_way_;
    runtime::run_aside(loop_, std::move(errand.read),
                       [weak = weak_from_this(), then = std::move(errand.then)] {
                         const auto self = weak.lock();
                         if (!self) return;  // the service has ended meanwhile
                         --self->under_way_;
                         self->begin();
                         then();
                       });
  }
}

}  // namespace service
