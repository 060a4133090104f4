#include "service/admission/tenancy.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

const Tokens& tokens() {
  static const Tokens kTokens = Tokens::parse(
                                    "ann 0123456789abcdef\n"
                                    "gateway 0123456789abcdeg jobs,tenant\n")
                                    .value();
  return kTokens;
}

std::string tenant_of(TenantBy by, const std::string& client, const std::string& asked = "") {
  auto tenant = Tenancy(by, tokens()).tenant_of(client, asked);
  return tenant ? *tenant : "refused: " + tenant.error().text();
}

}  // namespace

TEST_CASE("by token, each client is a tenant and none may say another", "[service][tenants]") {
  CHECK(tenant_of(TenantBy::kToken, "ann") == "ann");
  CHECK(tenant_of(TenantBy::kToken, "uid:7") == "uid:7");
  CHECK(tenant_of(TenantBy::kToken, "ann", "bob").starts_with("refused: tenant: "));
  CHECK(tenant_of(TenantBy::kToken, "gateway", "bob").starts_with("refused: tenant: "));
}

TEST_CASE("by field, only a trusted client says whose a job is", "[service][tenants]") {
  CHECK(tenant_of(TenantBy::kField, "gateway", "bob") == "bob");
  CHECK(tenant_of(TenantBy::kField, "gateway") == "gateway");
  CHECK(tenant_of(TenantBy::kField, "uid:7", "bob") == "bob");
  CHECK(tenant_of(TenantBy::kField, "ann") == "ann");
  CHECK(tenant_of(TenantBy::kField, "ann", "bob").starts_with("refused: tenant: "));
  CHECK(tenant_of(TenantBy::kField, "127.0.0.1", "bob").starts_with("refused: tenant: "));
}

TEST_CASE("without tenants a job is the common one's, and may not say otherwise",
          "[service][tenants]") {
  CHECK(tenant_of(TenantBy::kNone, "ann").empty());
  CHECK(tenant_of(TenantBy::kNone, "gateway", "bob").starts_with("refused: tenant: "));
}

TEST_CASE("a token may say tenants only if its line says so", "[service][tenants][tokens]") {
  CHECK_FALSE(tokens().may("ann", Scope::kTenant));
  CHECK(tokens().may("ann", Scope::kAdmin));
  CHECK(tokens().may("gateway", Scope::kTenant));
  CHECK_FALSE(tokens().may("nobody", Scope::kTenant));
}

TEST_CASE("no token is called like a client of a unix socket", "[service][tenants][tokens]") {
  CHECK_FALSE(Tokens::parse("uid:0 0123456789abcdef\n"));
}

}  // namespace service
