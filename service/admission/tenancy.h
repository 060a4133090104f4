#pragma once
// Tenancy: the tenant of a client's job. Pure; the tokens are borrowed, and may change meanwhile.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"
#include "service/admission/tokens.h"

namespace service {

enum class TenantBy : uint8_t {
  kNone,   // all are the common one's
  kToken,  // each client is a tenant of its own
  kField,  // the same, but a trusted client says it of each job
};
std::string_view name_of(TenantBy by);
std::optional<TenantBy> tenant_by_named(std::string_view name);

class Tenancy {
 public:
  explicit Tenancy(TenantBy by, const Tokens& tokens) : by_(by), tokens_(tokens) {}

  TenantBy by() const { return by_; }
  // `client`: a token's name, else "uid:N" of a unix socket, else an address. `asked`: what the job
  // says; empty: nothing. An error begins with the field's name.
  sys::Result<std::string> tenant_of(const std::string& client, const std::string& asked) const;

 private:
  bool trusts(const std::string& client) const;

  const TenantBy by_;
  const Tokens& tokens_;
};

}  // namespace service
