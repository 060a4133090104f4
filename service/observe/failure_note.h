#pragma once
// The record of a job that did not end well: label, evidence, usage. Never its program, its output,
// or what a test expected. Pure.

#include <string>

#include "runtime/job/result.h"

namespace service {

// Fields of a JSON object, without the braces; empty for a job that ended well.
std::string failure_note(const runtime::JobResult& result);

}  // namespace service
