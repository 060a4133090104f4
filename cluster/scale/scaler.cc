#include "cluster/scale/scaler.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cluster {

using sys::Result;

namespace {

constexpr size_t kMostIds = 500;  // in one command

using Loads = std::map<std::string, const RouterView::Pilot*>;

Loads loads_of(const RouterView& view) {
  Loads loads;
  for (const RouterView::Pilot& each : view.pilots) loads[each.name] = &each;
  return loads;
}

ScaleLook look_of(Engine engine, const std::vector<EngineSlot>& slots, const RouterView& view) {
  const Loads loads = loads_of(view);
  ScaleLook look{.wait = view.wait};
  for (const EngineSlot& slot : slots) {
    ++(slot.is_waiting ? look.waiting : look.running);
    if (!slot.is_waiting && loads.contains(pilot_of(engine, slot.id))) ++look.joined;
  }
  for (const RouterView::Pilot& each : view.pilots) {
    look.workers += each.workers;
    look.under_way += each.under_way;
  }
  return look;
}

}  // namespace

Scaler::Scaler(House house, Options options)
    : house_(std::move(house)), options_(std::move(options)), rule_(options_.limits) {}

Result<std::vector<EngineSlot>> Scaler::slots() const {
  const std::string text = TRY(house_.run(queue_command(options_.engine, options_.name)));
  return parse_queue(options_.engine, text);
}

Scaler::Report Scaler::look(sys::Nanoseconds now) {
  Report report;
  const auto all = slots();
  if (!all) return {.trouble = all.error().text()};
  for (const EngineSlot& slot : *all) {
    if (slot.is_waiting) ++report.look.waiting;
    if (slot.is_waiting && report.waits.empty()) report.waits = slot.trouble;
  }
  report.look.running = static_cast<unsigned>(all->size()) - report.look.waiting;
  const auto view = house_.router();
  if (!view) {
    report.trouble = view.error().text();
    return report;
  }
  report.look = look_of(options_.engine, *all, *view);
  report.step = rule_.step(report.look, now);
  if (options_.only_says) return report;
  if (const auto done = carry_out(report.step, *all, *view); !done)
    report.trouble = done.error().text();
  return report;
}

Result<void> Scaler::carry_out(const ScaleStep& step, const std::vector<EngineSlot>& slots,
                               const RouterView& view) const {
  if (step.more > 0) {
    TRY(house_.run(submit_command(options_.engine, options_.name, house_.printed(step.more),
                                  options_.directives)));
  }
  std::vector<std::string> ids;
  for (auto slot = slots.rbegin(); slot != slots.rend() && ids.size() < step.recall; ++slot) {
    if (slot->is_waiting) ids.push_back(slot->id);
  }
  const Loads loads = loads_of(view);
  std::vector<std::pair<unsigned, std::string>> running;
  for (const EngineSlot& slot : slots) {
    if (slot.is_waiting) continue;
    const auto load = loads.find(pilot_of(options_.engine, slot.id));
    running.emplace_back(load == loads.end() ? 0 : load->second->under_way, slot.id);
  }
  std::ranges::stable_sort(running, {}, &std::pair<unsigned, std::string>::first);
  for (size_t i = 0; i < std::min<size_t>(step.retire, running.size()); ++i)
    ids.push_back(running[i].second);
  return cancel(std::move(ids));
}

Result<void> Scaler::cancel(std::vector<std::string> ids) const {
  for (size_t at = 0; at < ids.size(); at += kMostIds) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last =
        ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), at + kMostIds));
    TRY(house_.run(cancel_command(options_.engine, {first, last})));
  }
  return {};
}

Result<size_t> Scaler::end() {
  const std::vector<EngineSlot> left = TRY(slots());
  std::vector<std::string> ids;
  for (const EngineSlot& slot : left) ids.push_back(slot.id);
  TRY(cancel(std::move(ids)));
  return left.size();
}

}  // namespace cluster
