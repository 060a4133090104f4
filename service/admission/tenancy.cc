#include "service/admission/tenancy.h"

namespace service {

using sys::Error;

std::string_view name_of(TenantBy by) {
  switch (by) {
    case TenantBy::kNone:
      return "none";
    case TenantBy::kToken:
      return "token";
    case TenantBy::kField:
      break;
  }
  return "field";
}

std::optional<TenantBy> tenant_by_named(std::string_view name) {
  for (const TenantBy by : {TenantBy::kNone, TenantBy::kToken, TenantBy::kField}) {
    if (name_of(by) == name) return by;
  }
  return std::nullopt;
}

sys::Result<std::string> Tenancy::tenant_of(const std::string& client,
                                            const std::string& asked) const {
  if (asked.empty()) return by_ == TenantBy::kNone ? std::string() : client;
  if (by_ == TenantBy::kNone)
    return Error::because("tenant: this service has no tenants (--tenant-by none)");
  if (by_ == TenantBy::kToken)
    return Error::because("tenant: the service sets it from the token (--tenant-by token)");
  if (!trusts(client))
    return Error::because("tenant: only a token with the scope tenant may say it");
  return asked;
}

// The operator chooses, by the file's mode, who may open the socket of a unix listener.
bool Tenancy::trusts(const std::string& client) const {
  return client.starts_with(Tokens::kUidPrefix) || tokens_.may(client, Scope::kTenant);
}

}  // namespace service
