// Writes what `zygo certify` shows: a row for each round, the flips, a summary; or JSON.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/certify/certify.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kShownFlips = 20, kWidestId = 40;

// Two digits that count, also of small rates: a bound of 0.0038 % is not 0.00 %.
std::string percent(double share) {
  const double value = 100 * share;
  const int digits = value == 0 || value >= 0.995 ? 2 : value >= 0.0995 ? 3 : 4;
  return fmt::format("{:.{}f}", value, digits);
}

std::string interval_text(const LoadRow& row) {
  const Interval interval = wilson_interval(row.flips, row.jobs);
  return fmt::format("{} to {} %", percent(interval.low), percent(interval.high));
}

ordered_json detail_json(const runtime::Detail& detail) {
  ordered_json object = ordered_json::object();
  for (const auto& [key, value] : detail)
    std::visit([&, &name = key](const auto& plain) { object[name] = plain; }, value);
  return object;
}

ordered_json row_json(const LoadRow& row) {
  const Interval interval = wilson_interval(row.flips, row.jobs);
  return {{"load", row.load},
          {"faults", row.faults},
          {"workers", row.workers},
          {"jobs", row.jobs},
          {"flips", row.flips},
          {"rate", row.rate()},
          {"interval", {interval.low, interval.high}},
          {"band",
           {{"jobs", row.band}, {"other_side", row.band_other_side}, {"rate", row.band_rate()}}},
          {"contended", row.contended},
          {"sandbox_errors", row.sandbox_errors},
          {"kills", row.kills},
          {"daemon_kills", row.daemon_kills},
          {"runs_again", row.runs_again},
          {"seconds", row.seconds}};
}

ordered_json flip_json(const Flip& flip) {
  return {{"id", flip.id},
          {"place", flip.place.empty() ? ordered_json() : ordered_json(flip.place)},
          {"load", flip.load},
          {"faults", flip.faults},
          {"expected", flip.expected},
          {"got", flip.got},
          {"detail", detail_json(flip.detail)},
          {"contended", flip.contended}};
}

}  // namespace

std::string flip_line(const Flip& flip) {
  auto plain = [](const std::string& text) { return escape_controls(text, Lines::kEscape); };
  std::string head = clip(plain(flip.id), kWidestId);
  if (!flip.place.empty()) head += " (" + plain(flip.place) + ")";
  return fmt::format("{}, load {}{}{}: expected {}, got {}", head, flip.load,
                     flip.faults ? " with faults" : "", flip.contended ? ", contended" : "",
                     plain(fmt::format("{}", fmt::join(flip.expected, " or "))), flip.seen);
}

LoadRow Certificate::total() const {
  LoadRow sum;
  for (const LoadRow& row : rows) {
    sum.jobs += row.jobs;
    sum.flips += row.flips;
    sum.band += row.band;
    sum.band_other_side += row.band_other_side;
    sum.contended += row.contended;
    sum.sandbox_errors += row.sandbox_errors;
    sum.kills += row.kills;
    sum.daemon_kills += row.daemon_kills;
    sum.runs_again += row.runs_again;
    sum.seconds += row.seconds;
  }
  return sum;
}

std::string certificate_head(const Certificate& certificate) {
  return fmt::format(
      "{}, level {}, {} cores\n"
      "load  faults   jobs  flips    rate %   95 % interval (Wilson)  band  contended  "
      "SandboxError  "
      "kills  daemons  again  seconds",
      escape_controls(certificate.corpus, Lines::kEscape), certificate.level, certificate.cpus);
}

std::string certificate_row(const LoadRow& row, const Style& style) {
  const std::string flips =
      style.paint(row.flips == 0 ? Colour::kGreen : Colour::kRed, fmt::format("{:>5}", row.flips));
  return fmt::format(
      "{:>4}  {:>6}  {:>5}  {}  {:>8}  {:>23}  {:>4}  {:>9}  {:>12}  {:>5}  {:>7}  {:>5}  {:>7.1f}",
      row.load, row.faults ? "yes" : "no", row.jobs, flips, percent(row.rate()), interval_text(row),
      fmt::format("{}/{}", row.band_other_side, row.band), row.contended, row.sandbox_errors,
      row.kills, row.daemon_kills, row.runs_again, row.seconds);
}

std::string certificate_end(const Certificate& certificate, const Style& style) {
  std::string text;
  for (size_t i = 0; i < std::min(certificate.flips.size(), kShownFlips); ++i)
    text += flip_line(certificate.flips[i]) + "\n";
  if (certificate.flips.size() > kShownFlips)
    text += fmt::format("... and {} more\n", certificate.flips.size() - kShownFlips);
  const LoadRow sum = certificate.total();
  const std::string band =
      sum.band == 0 ? ""
                    : fmt::format("; in the band {} of {} on the other side ({} %)",
                                  sum.band_other_side, sum.band, percent(sum.band_rate()));
  const std::string count = fmt::format("{} of {} labels flipped", sum.flips, sum.jobs);
  return text + fmt::format("{}: {} %, 95 % interval {}{}",
                            style.paint(sum.flips == 0 ? Colour::kGreen : Colour::kRed, count),
                            percent(sum.rate()), interval_text(sum), band);
}

std::string certificate_json(const Certificate& certificate) {
  ordered_json loads = ordered_json::array(), flips = ordered_json::array();
  for (const LoadRow& row : certificate.rows) loads.push_back(row_json(row));
  for (const Flip& flip : certificate.flips) flips.push_back(flip_json(flip));
  LoadRow sum = certificate.total();
  ordered_json total = row_json(sum);
  for (const char* meaningless : {"load", "faults", "workers"}) total.erase(meaningless);
  const ordered_json all = {
      {"ok", sum.flips == 0},       {"corpus", certificate.corpus}, {"seed", certificate.seed},
      {"level", certificate.level}, {"cpus", certificate.cpus},     {"confidence", 0.95},
      {"loads", std::move(loads)},  {"total", std::move(total)},    {"flips", std::move(flips)}};
  return all.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace cli
