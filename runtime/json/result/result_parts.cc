#include "runtime/json/result/result_parts.h"

#include <charconv>
#include <limits>

#include "runtime/job/micros.h"
#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"

namespace runtime {

using Type = JsonReader::Type;

namespace {

constexpr size_t kMostDetails = 256;  // words of ours, of which there are few

// Reads the name of an enumerator of the enumeration of which `last` is the last.
template <typename E>
bool read_enumerator(JsonReader& in, E last, E& value) {
  std::vector<std::string_view> names;
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
    names.push_back(name_of(static_cast<E>(i)));
  const auto index = read_choice(in, names);
  if (index) value = static_cast<E>(*index);
  return index.has_value();
}

bool contains_replacement(std::string_view text) {
  return text.find(kReplacementCharacter) != std::string_view::npos;
}

// Which bytes were replaced, and by how many, is lost; FF is written as what was read.
std::string broken_again(std::string_view text) {
  std::string bytes;
  while (true) {
    const size_t good = std::min(text.find(kReplacementCharacter), text.size());
    bytes.append(text.substr(0, good));
    if (good == text.size()) return bytes;
    bytes += '\xFF';
    text.remove_prefix(good + kReplacementCharacter.size());
  }
}

// signal_number(), and what signal_name() makes of numbers that are none.
std::optional<int> number_of_signal(std::string_view name) {
  if (const auto number = signal_number(name)) return number;
  constexpr std::string_view kUnknown = "signal ";
  if (!name.starts_with(kUnknown)) return std::nullopt;
  int number = 0;
  std::from_chars(name.data() + kUnknown.size(), name.data() + name.size(), number);
  return signal_name(number) == name ? std::optional(number) : std::nullopt;
}

}  // namespace

bool take_label(JsonReader& in, const std::string& label, bool ok, Verdict& verdict) {
  if (label.empty()) {
    in.fail("expected a label");
    return in.at_member("label");
  }
  Verdict labelled = verdict_labelled(label);
  verdict.outcome = labelled.outcome;
  verdict.exception_type = std::move(labelled.exception_type);
  return agrees(in, "ok", ok, verdict.ok(), "label");
}

bool read_json(JsonReader& in, By& by) { return read_enumerator(in, By::kSandbox, by); }

static bool read_json(JsonReader& in, DetailValue& value) {
  constexpr std::string_view kForms = "a string, a number, a boolean or null";
  switch (in.peek()) {
    case Type::kString:
      return read_json(in, value.emplace<std::string>());
    case Type::kBoolean:
      return read_json(in, value.emplace<bool>());
    case Type::kNull:  // what is no number is written so
      value = std::numeric_limits<double>::quiet_NaN();
      return in.read_null();
    case Type::kNumber: {
      JsonReader ahead = in;
      JsonReader::Number number;
      if (ahead.read_number(number) && number.kind == JsonReader::Number::Kind::kReal)
        return read_json(in, value.emplace<double>());
      return read_json(in, value.emplace<int64_t>());
    }
    case Type::kArray:
    case Type::kObject:
    case Type::kNone:
      break;
  }
  return in.expected(kForms);
}

// In its order; what is there twice stays so.
bool read_json(JsonReader& in, Detail& detail) {
  if (in.peek() != Type::kObject) return in.expected("an object");
  std::string key;
  in.open_object();
  while (in.next_key(detail.empty(), key)) {
    if (detail.size() == kMostDetails) return in.fail("more than " + std::to_string(kMostDetails));
    detail.emplace_back(key, DetailValue());
    if (!read_json(in, detail.back().second)) return in.at_key(key);
  }
  return in.ok();
}

namespace {

struct SaidExit {
  std::optional<int> code;
  std::optional<std::string> signal;
};
constexpr Member<SaidExit> kExit[] = {
    {"code", Presence::kAlways,
     [](JsonReader& in, SaidExit& into) { return read_or_null(in, into.code); }},
    {"signal", Presence::kAlways,
     [](JsonReader& in, SaidExit& into) { return read_or_null(in, into.signal); }},
};

}  // namespace

bool read_json(JsonReader& in, std::optional<ExitStatus>& exit) {
  SaidExit said;
  if (!read_members<SaidExit>(in, kExit, said)) return false;
  if (said.code && said.signal) {
    in.fail("expected null beside a code");
    return in.at_member("signal");
  }
  if (said.code) exit = ExitStatus{.signalled = false, .code = *said.code};
  if (!said.signal) return true;
  const auto number = number_of_signal(*said.signal);
  if (!number) {
    in.fail("expected the name of a signal");
    return in.at_member("signal");
  }
  exit = ExitStatus{.signalled = true, .code = *number};
  return true;
}

namespace {

struct SaidOutput : Output {
  bool lossy = false;
};
constexpr Member<SaidOutput> kOutput[] = {
    always<SaidOutput, &SaidOutput::bytes>("text"),
    always<SaidOutput, &SaidOutput::total>("bytes"),
    always<SaidOutput, &SaidOutput::truncated>("truncated"),
    always<SaidOutput, &SaidOutput::lossy>("lossy"),
};

}  // namespace

bool read_json(JsonReader& in, Output& output) {
  SaidOutput said;
  if (!read_members<SaidOutput>(in, kOutput, said)) return false;
  if (said.lossy && !contains_replacement(said.bytes))
    return disagrees(in, "lossy", "false", "text, which has no U+FFFD");
  output = std::move(said);
  if (said.lossy) output.bytes = broken_again(output.bytes);
  return true;
}

bool read_json(JsonReader& in, Exception& exception) {
  constexpr Member<Exception> kException[] = {
      always<Exception, &Exception::type>("type"),
      always<Exception, &Exception::message>("message"),
      always<Exception, &Exception::traceback>("traceback"),
  };
  return read_members<Exception>(in, kException, exception);
}

namespace {

struct SaidUsage : Usage {
  int64_t cpu_ms = 0, wall_ms = 0;
};
constexpr int64_t kKib = 1024;
constexpr Member<SaidUsage> kUsage[] = {
    always<SaidUsage, &SaidUsage::cpu_ms>("cpu_ms"),
    always<SaidUsage, &SaidUsage::wall_ms>("wall_ms"),
    {"memory_peak_kb", Presence::kAlways,
     [](JsonReader& in, SaidUsage& into) {
       int64_t kb = 0;
       if (!read_integer(in, INT64_MIN / kKib, INT64_MAX / kKib, kb)) return false;
       into.memory_peak_bytes = kb * kKib;
       return true;
     }},
    always<SaidUsage, &SaidUsage::pids_peak>("pids_peak"),
    always<SaidUsage, &SaidUsage::contended>("contended"),
    always<SaidUsage, &SaidUsage::cpu_us>("cpu_us"),
    always<SaidUsage, &SaidUsage::wall_us>("wall_us"),
    sometimes<SaidUsage, &SaidUsage::stopped_us>("stopped_us"),
    sometimes<SaidUsage, &SaidUsage::reruns>("reruns"),
    sometimes<SaidUsage, &SaidUsage::rerun_cpu_us>("rerun_cpu_us"),
};

}  // namespace

bool read_json(JsonReader& in, Usage& usage) {
  SaidUsage said;
  if (!read_members<SaidUsage>(in, kUsage, said)) return false;
  usage = said;
  return agrees(in, "cpu_ms", said.cpu_ms, rounded_milliseconds(said.cpu_us), "cpu_us") &&
         agrees(in, "wall_ms", said.wall_ms, rounded_milliseconds(said.wall_us), "wall_us");
}

bool read_json(JsonReader& in, Timing& timing) {
  constexpr Member<Timing> kTiming[] = {
      always<Timing, &Timing::admit>("admit"), always<Timing, &Timing::lease>("lease"),
      always<Timing, &Timing::fork>("fork"),   always<Timing, &Timing::confine>("confine"),
      always<Timing, &Timing::run>("run"),     always<Timing, &Timing::collect>("collect"),
      always<Timing, &Timing::judge>("judge"), sometimes<Timing, &Timing::rollback>("rollback"),
  };
  return read_members<Timing>(in, kTiming, timing);
}

namespace {

struct SaidDeterminism {
  int64_t runs = 1;
  std::optional<bool> same;
  std::optional<std::string> axis, where, mode;
  std::optional<int64_t> seed;
  std::optional<std::vector<std::string>> not_fixed;
};
constexpr Member<SaidDeterminism> kDeterminism[] = {
    {"runs", Presence::kSometimes,
     [](JsonReader& in, SaidDeterminism& into) {
       return read_integer(in, 2, std::numeric_limits<unsigned>::max(), into.runs);
     }},
    sometimes<SaidDeterminism, &SaidDeterminism::same>("same"),
    sometimes<SaidDeterminism, &SaidDeterminism::axis>("axis"),
    sometimes<SaidDeterminism, &SaidDeterminism::where>("where"),
    sometimes<SaidDeterminism, &SaidDeterminism::mode>("mode"),
    sometimes<SaidDeterminism, &SaidDeterminism::seed>("seed"),
    {"not_fixed", Presence::kSometimes,
     [](JsonReader& in, SaidDeterminism& into) {
       return read_list(in, into.not_fixed.emplace(), kMostDetails);
     }},
};

// A member whose presence another one decides.
bool is_where_due(JsonReader& in, std::string_view name, bool given, bool due,
                  std::string_view by) {
  if (given == due) return true;
  in.fail((due ? "required, by " : "expected none, by ") + std::string(by));
  return in.at_member(name);
}

}  // namespace

bool read_json(JsonReader& in, DeterminismReport& report) {
  SaidDeterminism said;
  if (!read_members<SaidDeterminism>(in, kDeterminism, said)) return false;
  const bool fixed = said.mode.has_value(), differs = !said.same.value_or(true);
  if (fixed && said.mode != "fixed") {
    in.fail("expected \"fixed\"");
    return in.at_member("mode");
  }
  // One run has a report only in fixed mode, and then nothing to compare.
  for (const auto& [name, given] :
       {std::pair{"runs", said.runs > 1}, {"same", said.same.has_value()}}) {
    if (fixed || given) continue;
    in.fail("required");
    return in.at_member(name);
  }
  if (!is_where_due(in, "same", said.same.has_value(), said.runs > 1, "runs") ||
      !is_where_due(in, "seed", said.seed.has_value(), fixed, "mode") ||
      !is_where_due(in, "not_fixed", said.not_fixed.has_value(), fixed, "mode") ||
      !is_where_due(in, "axis", said.axis.has_value(), differs, "same") ||
      !is_where_due(in, "where", said.where.has_value(), differs, "same"))
    return false;
  report = {.runs = static_cast<unsigned>(said.runs),
            .same = said.same.value_or(true),
            .axis = std::move(said.axis).value_or(""),
            .where = std::move(said.where).value_or(""),
            .fixed = fixed,
            .seed = said.seed.value_or(0),
            .not_fixed = std::move(said.not_fixed).value_or(std::vector<std::string>{})};
  return true;
}

namespace {

template <std::string StepReport::*M>
bool read_node(JsonReader& in, StepReport& into) {
  if (in.peek() == JsonReader::Type::kNull) return in.read_null();
  return read_json(in, into.*M);
}
constexpr Member<StepReport> kStep[] = {
    {"node", Presence::kAlways, read_node<&StepReport::node>},
    {"parent", Presence::kAlways, read_node<&StepReport::parent>},
    always<StepReport, &StepReport::kept>("kept"),
    sometimes<StepReport, &StepReport::bytes>("bytes"),
    sometimes<StepReport, &StepReport::why_not>("why_not"),
};

}  // namespace

bool read_json(JsonReader& in, StepReport& report) {
  return read_members<StepReport>(in, kStep, report);
}

namespace {

constexpr Member<CompileReport> kCompile[] = {
    always<CompileReport, &CompileReport::cached>("cached"),
    {"wall_ms", Presence::kAlways,
     [](JsonReader& in, CompileReport& into) {
       int64_t ms = 0;
       if (!read_integer(in, 0, rounded_milliseconds(INT64_MAX), ms)) return false;
       into.wall_us = ms > INT64_MAX / 1000 ? INT64_MAX : ms * 1000;
       return true;
     }},
};

}  // namespace

bool read_json(JsonReader& in, CompileReport& report) {
  return read_members<CompileReport>(in, kCompile, report);
}

namespace {

struct SaidFile : InputFile {
  std::optional<std::string> text, b64;
  int64_t bytes = 0;
};
constexpr Member<SaidFile> kFile[] = {
    sometimes<SaidFile, &SaidFile::text>("text"),
    sometimes<SaidFile, &SaidFile::b64>("b64"),
    always<SaidFile, &SaidFile::bytes>("bytes"),
    always<SaidFile, &SaidFile::executable>("executable"),
};

bool read_file(JsonReader& in, InputFile& file) {
  SaidFile said;
  if (!read_members<SaidFile>(in, kFile, said)) return false;
  if (said.text.has_value() == said.b64.has_value()) return in.fail("expected text or b64");
  if (said.b64 && !append_from_base64(*said.b64, said.content)) {
    in.fail("not base64");
    return in.at_member("b64");
  }
  file.content = said.text ? std::move(*said.text) : std::move(said.content);
  file.executable = said.executable;
  return agrees(in, "bytes", said.bytes, static_cast<int64_t>(file.content.size()), "the content");
}

}  // namespace

// Paths that are not UTF-8 may have become alike, so a path may be there twice.
bool read_json(JsonReader& in, std::vector<InputFile>& files) {
  if (in.peek() != Type::kObject) return in.expected("an object");
  std::string path;
  in.open_object();
  while (in.next_key(files.empty(), path)) {
    files.emplace_back().path = path;
    if (!read_file(in, files.back())) return in.at_key(path);
  }
  return in.ok();
}

static bool read_json(JsonReader& in, OutputFiles::Refused& refused) {
  using Refused = OutputFiles::Refused;
  constexpr Member<Refused> kRefused[] = {
      always<Refused, &Refused::path>("path"),
      always<Refused, &Refused::why>("why"),
  };
  return read_members<Refused>(in, kRefused, refused);
}

bool read_json(JsonReader& in, std::vector<OutputFiles::Refused>& refused) {
  return read_list(in, refused);
}

static bool read_json(JsonReader& in, sandbox::Profile& profile) {
  return read_enumerator(in, sandbox::Profile::kBuild, profile);
}

namespace {

constexpr std::string_view kTreatments[] = {"allowed", "failed quietly", "refused"};

struct SaidCall : ObservedCall {
  std::optional<int> said_error;
};
constexpr Member<SaidCall> kCall[] = {
    always<SaidCall, &SaidCall::name>("syscall"),
    always<SaidCall, &SaidCall::count>("count"),
    {"treatment", Presence::kAlways,
     [](JsonReader& in, SaidCall& into) {
       const auto index = read_choice(in, kTreatments);
       if (index) into.treatment = static_cast<ObservedCall::Treatment>(*index);
       return index.has_value();
     }},
    sometimes<SaidCall, &SaidCall::said_error>("errno"),
    sometimes<SaidCall, &SaidCall::argument>("argument"),
    {"profile", Presence::kAlways,
     [](JsonReader& in, SaidCall& into) { return read_or_null(in, into.needs); }},
};

}  // namespace

static bool read_json(JsonReader& in, ObservedCall& call) {
  SaidCall said;
  if (!read_members<SaidCall>(in, kCall, said)) return false;
  const bool refused = said.treatment != ObservedCall::Treatment::kAllowed;
  if (!is_where_due(in, "errno", said.said_error.has_value(), refused, "treatment")) return false;
  said.error = said.said_error.value_or(0);
  call = std::move(said);
  return true;
}

bool read_json(JsonReader& in, std::vector<ObservedCall>& calls) { return read_list(in, calls); }

bool read_json(JsonReader& in, sandbox::Layers& layers) {
  if (in.peek() != Type::kArray) return in.expected("a list");
  size_t count = 0;
  in.open_array();
  for (; in.next_item(count == 0); ++count) {
    sandbox::Layer layer{};
    if (!read_enumerator(in, sandbox::Layer::kScratch, layer)) return in.at_index(count);
    layers = layers.with(layer);
  }
  return in.ok();
}

bool read_json(JsonReader& in, sandbox::Level& level) {
  return read_enumerator(in, sandbox::Level::kMinimal, level);
}

}  // namespace runtime
