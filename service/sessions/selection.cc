#include "service/sessions/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "runtime/json/json_reader.h"
#include "runtime/values/value.h"

namespace service {

bool Selection::comes_before(const Tried& a, const Tried& b) const {
  if (order_ == Order::kByScore && a.score != b.score) return a.score > b.score;  // none is least
  return a.index < b.index;
}

bool Selection::wants(const Tried& tried) const {
  switch (keep_.what) {
    case Keep::What::kAll:
    case Keep::What::kBest:
      return true;
    case Keep::What::kOk:
      return tried.ok;
    case Keep::What::kNone:
      break;
  }
  return false;
}

std::vector<std::string> Selection::add(Tried tried) {
  ++ended_;
  ok_ += tried.ok ? 1 : 0;
  if (tried.node.empty()) return {};
  if (!wants(tried)) return {std::move(tried.node)};
  const auto before = [this](const Tried& a, const Tried& b) { return comes_before(a, b); };
  kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), tried, before), std::move(tried));
  if (keep_.what != Keep::What::kBest || kept_.size() <= keep_.best) return {};
  std::vector<std::string> out{std::move(kept_.back().node)};
  kept_.pop_back();
  return out;
}

std::optional<double> score_in(std::string_view value) {
  using runtime::JsonReader;
  if (value.empty()) return std::nullopt;
  std::string json;
  runtime::append_json(value, false, json);
  JsonReader in(json);
  if (in.peek() != JsonReader::Type::kArray || !in.open_array() || !in.next_item(true))
    return std::nullopt;
  if (in.peek() == JsonReader::Type::kObject) {
    std::string tagged;
    in.skip(&tagged);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (tagged == R"({"$type":"float","value":"inf"})") return kInfinity;
    if (tagged == R"({"$type":"float","value":"-inf"})") return -kInfinity;
    return std::nullopt;
  }
  JsonReader::Number number;
  if (in.peek() != JsonReader::Type::kNumber || !in.read_number(number)) return std::nullopt;
  switch (number.kind) {
    case JsonReader::Number::Kind::kInteger:
      return static_cast<double>(number.integer);
    case JsonReader::Number::Kind::kReal:
      return number.real;
    case JsonReader::Number::Kind::kBigInteger:
      break;
  }
  return std::strtod(std::string(number.digits).c_str(), nullptr);
}

}  // namespace service
