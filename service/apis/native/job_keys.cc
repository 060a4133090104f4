#include "service/apis/native/job_keys.h"

#include "sandbox/sys/result.h"

namespace service {

namespace {

// A digest, an id, and what the heap adds to each of the parts.
constexpr size_t kOfEach = 512;

}  // namespace

const JobKeys::Known* JobKeys::find(const std::string& client, const std::string& key) const {
  const auto found = keys_.find({client, key});
  return found == keys_.end() ? nullptr : &found->second;
}

std::shared_ptr<void> JobKeys::take(const std::string& client, const std::string& key,
                                    Known known) {
  const auto [entry, is_new] = keys_.try_emplace({client, key}, std::move(known));
  VERIFY(is_new);
  return {this, [entry = entry](JobKeys* keys) { keys->keys_.erase(entry); }};
}

size_t JobKeys::bytes_of(const std::string& client, const std::string& key) {
  return client.size() + key.size() + kOfEach;
}

}  // namespace service
