#pragma once
// From the JSON of a job's inputs to the value format, in one pass and without a tree. The tagged
// forms ({"$type": ...}) that results use are understood; "$type" is the first key of its object.

#include "runtime/json/json_reader.h"
#include "runtime/values/value.h"

namespace runtime {

// One call per element: `inputs` gives each as the only argument, `calls` gives args and kwargs.
// The encoded list of [args, kwargs] goes to `calls`. On failure the reader has the reason and the
// path.
bool read_inputs(JsonReader& in, std::string& calls);
// The args or the kwargs of one call, and the list of one call that they make (empty: none).
bool read_call_part(JsonReader& in, bool is_args, std::string& part);
std::string one_call(const std::string& args, const std::string& kwargs);
bool read_calls(JsonReader& in, std::string& calls);

}  // namespace runtime
