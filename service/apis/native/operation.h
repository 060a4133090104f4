#pragma once
// Operations: the requests that clients of the native API may send, as data. The service answers by
// these tables, and the OpenAPI document is made from them.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/router.h"

namespace service {

struct Parameter {
  std::string_view name, in, meaning;  // in: "query" or "header"
};

struct Description {
  enum class Shape : uint8_t { kOther, kJob, kResult };
  enum class Head : uint8_t { kNone, kLikeGet };  // RFC 9110, 9.3.2

  Method method;
  std::string_view pattern;
  Scope scope;
  std::string_view summary;
  std::string_view takes, gives;  // media types; takes: empty when there is no body
  std::vector<int> statuses;      // besides those that any request may get
  std::vector<Parameter> parameters = {};
  Shape takes_shape = Shape::kOther, gives_shape = Shape::kOther;
  std::string_view takes_schema = {}, gives_schema = {};  // names of Described; empty: none
  Head head = Head::kNone;
  Probe probe = Probe::kNo;
};
using Descriptions = std::vector<Description>;

// What the OpenAPI document says.
struct Described {
  Descriptions operations;
  std::vector<std::pair<std::string, std::string>> schemas = {};  // names, and JSON Schema
};

// An operation and the method of `Part` that performs it.
template <class Part>
struct Operation {
  Description about;
  void (Part::*perform)(const ExchangePtr& exchange, const std::string& parameter);
};
template <class Part>
using Operations = std::vector<Operation<Part>>;

// HEAD is offered for operations with one immediate answer; it has the headers of GET.
template <class Part>
void add_routes(Part& part, const Operations<Part>& operations, Routes& routes) {
  for (const auto& [about, perform] : operations) {
    const Handler handle = [&part, perform = perform](const ExchangePtr& exchange,
                                                      const std::string& parameter) {
      (part.*perform)(exchange, parameter);
    };
    routes.push_back({about.method, about.pattern, about.scope, handle, about.probe});
    if (about.head == Description::Head::kLikeGet)
      routes.push_back({Method::kHead, about.pattern, about.scope, handle, about.probe});
  }
}

template <class Part>
void describe(const Operations<Part>& operations, Descriptions& into) {
  for (const Operation<Part>& operation : operations) {
    into.push_back(operation.about);
    if (operation.about.head == Description::Head::kNone) continue;
    into.push_back(operation.about);
    into.back().method = Method::kHead;
  }
}

inline constexpr Parameter kPatience{"X-Zygo-Patience", "header",
                                     "Seconds within which a job must have started; else 429."};

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kLines = "application/x-ndjson";
inline constexpr std::string_view kBytes = "application/octet-stream";

// OpenAPI 3.1.
std::string openapi_json(std::string_view version, const Described& service);

}  // namespace service
