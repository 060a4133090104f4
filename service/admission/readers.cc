#include "service/admission/readers.h"

#include <utility>

namespace service {

namespace {

constexpr unsigned kReadAtOnce = 2;

}  // namespace

void Readers::read(const std::string& client, std::function<void()> read,
                   std::function<void()> then) {
  queue_.push(++last_, client, 0);
  errands_.emplace(last_, Errand{std::move(read), std::move(then)});
  begin();
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
