#pragma once
// The place where jobs were recorded, against the place where they run again: versions, host,
// template, level. A difference there may explain one of results. Pure.

#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/job/result.h"

namespace cli {

constexpr const char* kUnknown = "unknown";  // recorded: the record does not say it

struct Change {
  std::string what;  // zygo, kernel, machine, level, further layers, template NAME ...
  std::string recorded, here;
  size_t results = 1;  // so many say so
};

// Adds those of one more result; one that is there already is counted.
void add_changes(const runtime::JobResult& recorded, const runtime::Origin& here,
                 const runtime::Engine::Standing& standing, std::vector<Change>& changes);

// The sentence: how a template that is not known here has to be defined.
std::string unknown_template(const runtime::JobResult& recorded, const std::string& name);

}  // namespace cli
