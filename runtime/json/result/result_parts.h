#pragma once
// Readers for the parts of a result: each reads what result_json writes of its type, and holds what
// is said twice against each other. Internal to result_reader. A failure leaves its reason, and the
// path below the part, with the JsonReader. Pure.

#include <optional>
#include <string>
#include <vector>

#include "runtime/job/result.h"
#include "runtime/json/members.h"

namespace runtime {

bool read_json(JsonReader& in, By& by);
bool read_json(JsonReader& in, Detail& detail);
bool read_json(JsonReader& in, std::optional<ExitStatus>& exit);  // both null: none
bool read_json(JsonReader& in, Output& output);
bool read_json(JsonReader& in, Exception& exception);
bool read_json(JsonReader& in, Usage& usage);
bool read_json(JsonReader& in, Timing& timing);
bool read_json(JsonReader& in, DeterminismReport& report);
bool read_json(JsonReader& in, StepReport& report);
bool read_json(JsonReader& in, CompileReport& report);
bool read_json(JsonReader& in, std::vector<InputFile>& files);  // by path
bool read_json(JsonReader& in, std::vector<OutputFiles::Refused>& refused);
bool read_json(JsonReader& in, std::vector<ObservedCall>& calls);
bool read_json(JsonReader& in, sandbox::Layers& layers);
bool read_json(JsonReader& in, sandbox::Level& level);

// The members that a result and a test have alike; `T` is either, with `label` and `ok` as they are
// said.
template <typename T>
inline constexpr auto kOfRun = std::to_array<Member<T>>({
    always<T, &T::label>("label"),
    {"by", Presence::kAlways,
     [](JsonReader& in, T& into) { return read_json(in, into.verdict.by); }},
    always<T, &T::ok>("ok"),
    {"detail", Presence::kAlways,
     [](JsonReader& in, T& into) { return read_json(in, into.verdict.detail); }},
    always<T, &T::exit>("exit"),
    always<T, &T::out>("stdout"),
    always<T, &T::err>("stderr"),
    sometimes<T, &T::exception>("exception"),
    always<T, &T::usage>("usage"),
});

// Makes the verdict of a label; `ok` must say the same.
bool take_label(JsonReader& in, const std::string& label, bool ok, Verdict& verdict);

}  // namespace runtime
