#include "service/http/content_coding.h"

#include <algorithm>
#include <optional>
#include <string>

namespace service {

namespace {

constexpr size_t kFewBytes = 1024;  // what is shorter is one packet in any case
constexpr int kFullWeight = 1000;

std::string lower(std::string_view text) {
  std::string copy(text);
  for (char& c : copy) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return copy;
}

// Up to the separator, which goes, too.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(piece);
}

template <typename Use>
void for_each_element(const Headers& headers, std::string_view name, Use use) {
  for (const auto& [header, value] : headers) {
    if (header != name) continue;
    for (std::string_view left = value; !left.empty();) {
      const std::string_view element = take_until(left, ',');
      if (!element.empty()) use(element);
    }
  }
}

bool is_gzip(std::string_view coding) { return coding == "gzip" || coding == "x-gzip"; }

// "0", "0.5", "1.000" in thousandths; nothing for what is no weight.
std::optional<int> read_weight(std::string_view text) {
  const bool shaped = !text.empty() && text.size() <= 5 && (text[0] == '0' || text[0] == '1') &&
                      (text.size() == 1 || text[1] == '.');
  if (!shaped) return std::nullopt;
  int weight = (text[0] - '0') * kFullWeight, unit = kFullWeight / 10;
  for (const char c : text.substr(std::min<size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return std::nullopt;
    weight += (c - '0') * unit;
    unit /= 10;
  }
  if (weight > kFullWeight) return std::nullopt;
  return weight;
}

// The weight in ";q=0.5"; other parameters mean nothing here. A weight that cannot be read is none.
int weight_in(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = take_until(parameters, ';');
    const std::string name = lower(take_until(parameter, '='));
    if (name == "q") return read_weight(trimmed(parameter)).value_or(0);
  }
  return kFullWeight;
}

}  // namespace

Coding coding_of_body(const Headers& headers) {
  size_t gzips = 0, others = 0;
  for_each_element(headers, "content-encoding", [&](std::string_view element) {
    const std::string coding = lower(element);
    if (is_gzip(coding)) ++gzips;
    if (!is_gzip(coding) && coding != "identity") ++others;
  });
  if (others > 0 || gzips > 1) return Coding::kUnknown;
  return gzips == 1 ? Coding::kGzip : Coding::kIdentity;
}

bool accepts_gzip(const Headers& headers) {
  std::optional<int> gzip, any, identity;
  for_each_element(headers, "accept-encoding", [&](std::string_view element) {
    const std::string coding = lower(take_until(element, ';'));
    const int weight = weight_in(element);
    if (is_gzip(coding)) gzip = std::max(gzip.value_or(0), weight);
    if (coding == "*") any = weight;
    if (coding == "identity") identity = weight;
  });
  const int weight = gzip.value_or(any.value_or(0));
  return weight > 0 && weight >= identity.value_or(0);
}

bool is_worth_deflating(const Response& response) {
  if (response.body.size() < kFewBytes) return false;
  const std::string_view type = std::string_view(response.type).substr(0, response.type.find(';'));
  const bool is_text = type.starts_with("text/") && type != "text/event-stream";
  return is_text || type == "application/json" || type == "image/svg+xml";
}

}  // namespace service
