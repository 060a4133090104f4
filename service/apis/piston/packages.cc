// Piston's packages: here they are what the operator has installed, so they can be listed, but
// neither added nor removed.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "service/apis/parsed.h"
#include "service/apis/piston/piston.h"

namespace service::piston {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string word(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end()) return "undefined";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

Response packages_response(const std::vector<Language>& languages) {
  ordered_json list = ordered_json::array();
  for (const Language& language : languages) {
    list.push_back({{"language", language.name},
                    {"language_version", text_of(language.version)},
                    {"installed", true}});
  }
  return {.body = list.dump() + "\n"};
}

Response change_packages(const Request& request, const std::vector<Language>& languages,
                         Change change) {
  const std::string* type = request.header("content-type");
  if (!type || !type->starts_with("application/json"))
    return message_response(415, "requests must be of type application/json");
  const json body = parsed(request.body);
  if (!body.is_object()) return message_response(400, "SyntaxError: the body is not a JSON object");
  const std::string name = word(body, "language"), range = word(body, "version");
  const auto found = std::ranges::find_if(languages, [&](const Language& language) {
    return language.name == name && in_range(language.version, range);
  });
  if (found == languages.end())
    return message_response(404,
                            fmt::format("Requested package {}-{} does not exist", name, range));
  if (change == Change::kAdd) return message_response(500, "Already installed");
  return message_response(
      500, fmt::format("{}-{} is installed by the operator of this service, who alone removes it",
                       name, text_of(found->version)));
}

}  // namespace service::piston
