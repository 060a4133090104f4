#include "service/admission/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "images/sha256.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kShortestToken = 16;
constexpr std::array kScopes{Scope::kInfo,  Scope::kJobs,   Scope::kBlobs, Scope::kMetrics,
                             Scope::kAdmin, Scope::kTenant, Scope::kPilot};

constexpr unsigned bit(Scope scope) { return 1u << static_cast<unsigned>(scope); }

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Result<unsigned> scopes_in(std::string_view text) {
  unsigned scopes = bit(Scope::kInfo);
  for (std::string_view word : split(text, ",")) {
    auto scope = std::find_if(kScopes.begin(), kScopes.end(),
                              [word](Scope each) { return name_of(each) == word; });
    if (scope == kScopes.end())
      return Error::because(fmt::format(
          "\"{}\" is no scope; there are info, jobs, blobs, metrics, admin, tenant and pilot",
          word));
    scopes |= bit(*scope);
  }
  return scopes;
}

}  // namespace

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kOpen:
      return "open";
    case Scope::kInfo:
      return "info";
    case Scope::kJobs:
      return "jobs";
    case Scope::kBlobs:
      return "blobs";
    case Scope::kMetrics:
      return "metrics";
    case Scope::kAdmin:
      return "admin";
    case Scope::kTenant:
      return "tenant";
    case Scope::kPilot:
      break;
  }
  return "pilot";
}

Result<Tokens> Tokens::parse(std::string_view text) {
  Tokens tokens;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> words = split(text.substr(0, end), " \t\r");
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty() || words.front().starts_with('#')) continue;
    const std::string line = fmt::format("line {}", number);
    if (words.size() < 2 || words.size() > 3)
      return Error::because(line + ": expected NAME TOKEN [SCOPE,...]");
    if (words[1].size() < kShortestToken)
      return Error::because(
          fmt::format("{}: a token has at least {} characters", line, kShortestToken));
    if (words[0].starts_with(kUidPrefix))
      return Error::because(line + ": names that begin with uid: are those of unix sockets");
    Holder holder{std::string(words[0]), bit(Scope::kInfo) | bit(Scope::kJobs) |
                                             bit(Scope::kBlobs) | bit(Scope::kMetrics) |
                                             bit(Scope::kAdmin)};
    if (words.size() == 3) {
      Result<unsigned> scopes = scopes_in(words[2]);
      if (!scopes) return std::move(scopes).error().context(line);
      holder.scopes = *scopes;
    }
    std::string digest = images::sha256_of(words[1]);
    for (const Entry& other : tokens.entries_) {
      if (other.holder.name == holder.name || other.digest == digest)
        return Error::because(line + ": the name or the token is there twice");
    }
    tokens.entries_.push_back({std::move(holder), std::move(digest)});
  }
  if (tokens.empty()) return Error::because("expected at least one line NAME TOKEN [SCOPE,...]");
  return tokens;
}

bool Tokens::may(const std::string& name, Scope scope) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.holder.name == name && entry.holder.may(scope);
  });
}

const Tokens::Holder* Tokens::find(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return nullptr;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if ((authorization[i] | 0x20) != (kScheme[i] | 0x20)) return nullptr;
  }
  const std::string digest = images::sha256_of(authorization.substr(kScheme.size()));
  const Holder* found = nullptr;
  for (const Entry& entry : entries_) {  // all of them, so that time says nothing
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0)
      found = &entry.holder;
  }
  return found;
}

}  // namespace service
