#pragma once
// Tokens: the permissions of clients, from a file of lines NAME TOKEN [SCOPE,...]. Only digests of
// tokens are kept, and compared in constant time. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace service {

enum class Scope : uint8_t {
  kOpen,
  kInfo,
  kJobs,
  kBlobs,
  kMetrics,
  kAdmin,
  kTenant,  // says whose its jobs are
  kPilot,   // joins a router and runs its jobs
};          // kOpen: no token is needed; the last two are never given without being named
std::string_view name_of(Scope scope);

class Tokens {
 public:
  struct Holder {
    std::string name;
    bool may(Scope scope) const { return (scopes & (1u << static_cast<unsigned>(scope))) != 0; }
    unsigned scopes = 0;
  };

  // Blank lines and lines that begin with # are skipped. Without scopes a token may do everything.
  // An error names the line, never the token.
  static sys::Result<Tokens> parse(std::string_view text);

  // Clients on unix sockets are called so; no token is.
  static constexpr std::string_view kUidPrefix = "uid:";

  // Permission of the holder of that name, if there is one.
  bool may(const std::string& name, Scope scope) const;
  bool empty() const { return entries_.empty(); }
  // Finds the holder by an Authorization header: "Bearer TOKEN".
  const Holder* find(std::string_view authorization) const;

 private:
  struct Entry {
    Holder holder;
    std::string digest;
  };
  std::vector<Entry> entries_;
};

}  // namespace service
