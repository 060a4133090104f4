#include "service/jupyter/markers.h"

#include <charconv>
#include <utility>

#include "runtime/values/utf8.h"
#include "service/apis/parsed.h"

namespace service::jupyter {

namespace {
constexpr size_t kMostDigits = 10;
constexpr int kDeepest = 64;
}  // namespace

void Markers::print(size_t end) {
  if (end == taken_) return;
  const std::string_view bytes = std::string_view(held_).substr(taken_, end - taken_);
  taken_ = end;
  sink_.printed(runtime::repaired_utf8(bytes));
}

Markers::Seen Markers::look(size_t at) {
  const std::string_view here = std::string_view(held_).substr(at);
  const size_t known = std::min(here.size(), start_.size());
  if (here.compare(0, known, start_, 0, known) != 0) return Seen::kText;
  if (known < start_.size()) return Seen::kPart;
  more_follow_ = here.size() > start_.size() && here[start_.size()] == '+';
  const std::string_view number =
      here.substr(start_.size() + (more_follow_ ? 1 : 0), kMostDigits + 1);
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, said_size_);
  if (read.ptr == end && number.size() <= kMostDigits) return Seen::kPart;
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != ':') return Seen::kText;
  said_at_ = static_cast<size_t>(read.ptr - here.data()) + 1;
  return here.size() - said_at_ < said_size_ ? Seen::kPart : Seen::kWhole;
}

// The program may have written it by itself: a tree of any depth could not be written again.
void Markers::hear(std::string_view piece) {
  if (more_follow_ || !said_.empty()) said_ += piece;
  if (more_follow_) return;
  nlohmann::json said = service::parsed(said_.empty() ? piece : said_, kDeepest);
  said_ = {};
  if (said.is_object()) sink_.said(std::move(said));
}

void Markers::take(std::string_view bytes) {
  held_.erase(0, std::exchange(taken_, 0));
  held_ += bytes;
  size_t at = 0;
  while ((at = held_.find('\x1e', at)) != held_.npos) {
    const Seen seen = look(at);
    if (seen == Seen::kText) {
      ++at;
      continue;
    }
    print(at);
    if (seen == Seen::kPart) return;
    const std::string_view piece = std::string_view(held_).substr(at + said_at_, said_size_);
    at = taken_ = at + said_at_ + said_size_;
    hear(piece);
  }
  const std::string_view rest = std::string_view(held_).substr(taken_);
  print(taken_ + runtime::whole_characters(rest));
}

void Markers::end() {
  const size_t begun = held_.find(start_, taken_);
  const bool is_whole = begun == held_.npos || look(begun) == Seen::kText;
  print(is_whole ? held_.size() : begun);
}

std::string Characters::take(std::string_view bytes) {
  held_ += bytes;
  const size_t whole = runtime::whole_characters(held_);
  std::string text = runtime::repaired_utf8(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
  return text;
}

std::string Characters::end() { return runtime::repaired_utf8(std::exchange(held_, {})); }

}  // namespace service::jupyter
