#include "service/apis/judge0/store.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "service/apis/judge0/ending.h"

namespace service::judge0 {

void SubmissionStore::add(Entry entry) {
  std::string token = entry.submission.token;
  entries_.insert_or_assign(std::move(token), std::move(entry));
}

const SubmissionStore::Entry* SubmissionStore::find(const std::string& owner,
                                                    const std::string& token) const {
  const auto found = entries_.find(token);
  return found == entries_.end() || found->second.owner != owner ? nullptr : &found->second;
}

std::optional<Submission> SubmissionStore::end(const std::string& token, Ending ending,
                                               sys::Nanoseconds now) {
  const auto found = entries_.find(token);
  if (found == entries_.end()) return std::nullopt;
  Entry& entry = found->second;
  if (!entry.share.resize(entry.share.bytes() + ending.bytes()))
    ending = internal_error("the service holds too many bytes already to keep the result");
  entry.submission.status = ending.status;
  entry.submission.finished_ms = wall_clock_ms();
  entry.submission.ending = std::make_shared<const Ending>(std::move(ending));
  entry.ended = now;
  Kept& kept = kept_[entry.share.client()];
  entry.place = kept.ended.insert(kept.ended.end(), token);
  kept.bytes += entry.share.bytes();
  bytes_ += entry.share.bytes();
  ++ended_;
  Submission as_it_is = entry.submission;
  make_room();
  return as_it_is;
}

void SubmissionStore::make_room() {
  while (ended_ > limits_.submissions || bytes_ > limits_.bytes) {
    const bool many = ended_ > limits_.submissions;
    const auto greediest =
        std::max_element(kept_.begin(), kept_.end(), [many](const auto& one, const auto& other) {
          return many ? one.second.ended.size() < other.second.ended.size()
                      : one.second.bytes < other.second.bytes;
        });
    forget(std::string(greediest->second.ended.front()));
  }
}

bool SubmissionStore::remove(const std::string& owner, const std::string& token) {
  if (!find(owner, token)) return false;
  forget(token);
  return true;
}

void SubmissionStore::forget(const std::string& token) {
  auto entry = entries_.extract(token);
  if (entry.empty() || !entry.mapped().submission.ending) return;
  const Allowance::Share& share = entry.mapped().share;
  const auto kept = kept_.find(share.client());
  kept->second.ended.erase(entry.mapped().place);
  kept->second.bytes -= share.bytes();
  bytes_ -= share.bytes();
  --ended_;
  if (kept->second.ended.empty()) kept_.erase(kept);
}

std::optional<sys::Nanoseconds> SubmissionStore::forget_old(sys::Nanoseconds now) {
  std::vector<std::string> old;
  std::optional<sys::Nanoseconds> next;
  for (const auto& [client, kept] : kept_) {
    for (const std::string& token : kept.ended) {
      const sys::Nanoseconds until = entries_.at(token).ended + limits_.keep;
      if (until > now) {
        next = std::min(next.value_or(until), until);
        break;
      }
      old.push_back(token);
    }
  }
  for (const std::string& token : old) forget(token);
  return next;
}

std::string new_submission_token() {
  unsigned char bytes[16];
  VERIFY(::getrandom(bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // RFC 9562: version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // and its variant
  std::string text;
  for (size_t i = 0; i < sizeof bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace service::judge0
