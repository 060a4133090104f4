#include "cluster/environments/offered.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cluster/peers/homes.h"
#include "images/pack.h"
#include "images/sha256.h"

namespace cluster {

using nlohmann::ordered_json;
using sys::Error;
using sys::Result;

namespace {

constexpr size_t kMost = 1000;  // that a router may list

EnvironmentName read(const ordered_json& each) {
  const auto word = [&](const char* name) {
    const auto found = each.is_object() ? each.find(name) : each.end();
    return each.is_object() && found != each.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
  };
  EnvironmentName about{.name = word("name"), .digest = word("digest")};
  const auto bytes = each.is_object() ? each.find("bytes") : each.end();
  if (each.is_object() && bytes != each.end() && bytes->is_number_unsigned())
    about.bytes = bytes->get<uint64_t>();
  return about;
}

}  // namespace

Result<Offered> offer(const std::string& text) {
  const size_t at = text.find('=');
  if (at == text.npos) return Error::because(text + ": expected NAME=FILE");
  Offered offered;
  offered.about.name = text.substr(0, at);
  if (!is_router_name(offered.about.name)) {
    return Error::because(fmt::format(
        "{}: the name: expected 1 to 64 letters, digits, '.', '_' and '-'", offered.about.name));
  }
  const std::string path = text.substr(at + 1);
  offered.file = sys::OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!offered.file) return Error::from_errno(path);
  struct stat facts {};
  if (::fstat(offered.file.get(), &facts) < 0) return Error::from_errno(path);
  if (!S_ISREG(facts.st_mode) || !images::looks_packed(path))
    return Error::because(path + ": expected a packed environment (zygo image pack)");
  offered.about.bytes = static_cast<uint64_t>(facts.st_size);
  offered.about.digest = "sha256:" + TRY(images::sha256_of_file(offered.file.get()));
  return offered;
}

std::string environments_json(const std::vector<Offered>& offered) {
  ordered_json list = ordered_json::array();
  for (const Offered& each : offered) {
    list.push_back(
        {{"name", each.about.name}, {"digest", each.about.digest}, {"bytes", each.about.bytes}});
  }
  return ordered_json({{"environments", std::move(list)}}).dump();
}

Result<std::vector<EnvironmentName>> parse_environments(std::string_view json) {
  const ordered_json all = ordered_json::parse(json, nullptr, false);
  const auto found = all.is_object() ? all.find("environments") : all.end();
  const bool is_list = all.is_object() && found != all.end() && found->is_array();
  if (!is_list || found->size() > kMost)
    return Error::because("expected an object with \"environments\", a list");
  std::vector<EnvironmentName> names;
  for (const ordered_json& each : *found) {
    EnvironmentName about = read(each);
    if (!is_router_name(about.name) || !images::is_sha256(about.digest))
      return Error::because("environments: expected objects with \"name\" and \"digest\"");
    names.push_back(std::move(about));
  }
  return names;
}

}  // namespace cluster
