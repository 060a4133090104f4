#include "cluster/callbacks/callback_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cluster {

using sys::Error;
using sys::Result;

CallbackSender::Place::Place(CallbackSender& all, uint32_t number, JoinUrl where)
    : url(std::move(where)),
      dialer(all.house_.loop,
             {.start =
                  [&all, number](DialerProcesses::Then then) {
                    all.processes_.start_one(number, std::move(then));
                  }},
             sys::Milliseconds(0)) {}

CallbackSender::CallbackSender(service::CallbacksHouse house, Options options)
    : house_(std::move(house)),
      tls_(std::move(options.tls)),
      processes_(house_.loop, std::move(options.processes), [this] {
        house_.note(
            "the process that starts those that connect for callbacks has ended: no more are made");
      }) {
  for (JoinUrl& place : options.places) {
    const auto number = static_cast<uint32_t>(places_.size());
    places_.push_back(std::make_unique<Place>(*this, number, std::move(place)));
  }
}

CallbackSender::Place* CallbackSender::place_of(const CallbackUrl& url) const {
  const auto found = std::ranges::find_if(
      places_, [&url](const std::unique_ptr<Place>& each) { return is_below(url, each->url); });
  return found == places_.end() ? nullptr : found->get();
}

CallbackSender::Check CallbackSender::check() const {
  std::vector<JoinUrl> allowed;
  for (const auto& place : places_) allowed.push_back(place->url);
  return [allowed = std::move(allowed)](std::string_view text) -> Result<void> {
    const CallbackUrl url = TRY(parse_callback_url(text));
    const auto is_place = [&url](const JoinUrl& place) { return is_below(url, place); };
    if (std::ranges::none_of(allowed, is_place))
      return Error::because("is no place where this service may call back");
    return {};
  };
}

void CallbackSender::send(std::string_view url, std::string body, std::shared_ptr<void> held) {
  Result<CallbackUrl> read = parse_callback_url(url);
  Place* place = read ? place_of(*read) : nullptr;
  if (!place || place->waiting.size() >= kMostWaiting) {
    ++counts_.dropped;
    return;
  }
  ++unfinished_;
  place->waiting.push_back({std::move(read).value(), std::move(body), std::move(held)});
  begin_more(*place);
}

void CallbackSender::begin_more(Place& place) {
  while (!place.waiting.empty() && place.under_way.size() < kAtOnce) {
    Waiting next = std::move(place.waiting.front());
    place.waiting.pop_front();
    const auto callback = std::make_shared<Callback>(
        std::move(next.url), std::move(next.body), std::move(next.held),
        Callback::House{.loop = house_.loop,
                        .dialer = place.dialer,
                        .tls = tls_.get(),
                        .over = [this, &place](const auto& it, const std::string& why) {
                          over(it, place, why);
                        }});
    place.under_way.insert(callback);
    callback->start();
  }
}

void CallbackSender::over(const std::shared_ptr<Callback>& callback, Place& place,
                          const std::string& why) {
  place.under_way.erase(callback);
  --unfinished_;
  ++(why.empty() ? counts_.answered : counts_.failed);
  // The first of several says enough.
  if (!why.empty() && !place.fails)
    house_.note(fmt::format("a callback to {}: {}", place.url.text(), why));
  place.fails = !why.empty();
  begin_more(place);
  if (is_idle()) house_.rested();
}

}  // namespace cluster
