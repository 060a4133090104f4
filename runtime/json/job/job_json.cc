#include "runtime/json/job/job_json.h"

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_parts.h"
#include "runtime/json/job/job_record.h"
#include "runtime/json/job/job_rules.h"
#include "runtime/json/job/job_tests.h"
#include "runtime/json/job/job_value.h"
#include "runtime/json/members.h"

namespace runtime {

using Type = JsonReader::Type;

namespace {

class JobParser {
 public:
  JobParser(std::string_view text, Job& job) : in_(text), job_(job) {}

  bool object(std::string_view parent) {
    if (in_.peek() != Type::kObject) return in_.expected("an object");
    std::string key;
    in_.open_object();
    for (bool first = true; in_.next_key(first, key); first = false) {
      const std::string path = std::string(parent) + key;
      const int index = field_index(path);
      if (index < 0) return unknown(path);
      const Field& field = job_fields()[static_cast<size_t>(index)];
      if (!mark(index)) in_.fail("given twice");
      if (field.kind == FieldKind::kObject && in_.peek() == Type::kObject) {
        if (!object(path + '.')) return false;
      } else if (!in_.ok() || !value(field)) {
        return in_.at_field(path);
      }
    }
    return in_.ok();
  }

  bool finish() { return in_.finish(); }
  bool gave(std::string_view path) const {
    return (given_ >> static_cast<unsigned>(field_index(path)) & 1) != 0;
  }
  JsonReader& in() { return in_; }
  std::vector<InputFile>& sources() { return sources_; }

 private:
  bool mark(int index) {
    const uint64_t bit = uint64_t{1} << static_cast<unsigned>(index);
    const bool fresh = (given_ & bit) == 0;
    given_ |= bit;
    return fresh;
  }

  bool unknown(std::string_view path) {
    std::string message = "unknown field " + printable(path);
    const std::string_view close = closest_field(path);
    if (!close.empty()) message += "; did you mean " + std::string(close) + "?";
    return in_.fail(std::move(message));
  }

  bool value(const Field& field) {
    switch (field.kind) {
      case FieldKind::kInteger:
        return integer(field);
      case FieldKind::kBoolean:
        return boolean(field);
      case FieldKind::kChoice:
        return choice(field);
      case FieldKind::kText:
        return text(field) && is_fit(field);
      case FieldKind::kBytes:
        return read_bytes(in_, field, job_.*field.text);
      case FieldKind::kSource:
        return read_source(in_, field, job_.*field.text, job_.source_blob);
      case FieldKind::kJson:
        return tag(field);
      case FieldKind::kTexts:
        return read_argv(in_, field, job_.argv);
      case FieldKind::kGlobs:
        return read_globs(in_, field, job_.outputs);
      case FieldKind::kEnvironment:
        return read_env(in_, field, job_.env);
      case FieldKind::kFiles:
        return read_files(in_, job_.files);
      case FieldKind::kSources:
        return read_sources(in_, field, sources_);
      case FieldKind::kFlags:
        return read_flags(in_, field, job_.compiler_flags);
      case FieldKind::kInputs:
        return read_inputs(in_, job_.calls);
      case FieldKind::kCalls:
        return read_calls(in_, job_.calls);
      case FieldKind::kRequire:
        return read_require(in_, field, job_.policy.require);
      case FieldKind::kTests:
        return read_tests(in_, field, job_.tests);
      case FieldKind::kChecker:
        return read_checker(in_, field, job_.checker.emplace());
      case FieldKind::kInteractor:
        return read_checker(in_, field, job_.interactor.emplace());
      case FieldKind::kObject:
        return in_.expected("an object");
    }
    return false;
  }

  bool integer(const Field& field) {
    int64_t value = 0;
    if (!read_integer(in_, field.min, field.max, value)) return false;
    field.number.set(job_, value);
    return true;
  }

  bool boolean(const Field& field) {
    bool value = false;
    if (!read_json(in_, value)) return false;
    field.number.set(job_, value ? 1 : 0);
    return true;
  }

  bool choice(const Field& field) {
    const auto index = read_choice(in_, field.choices);
    if (index) field.number.set(job_, static_cast<int64_t>(*index));
    return index.has_value();
  }

  bool text(const Field& field) {
    std::string& into = job_.*field.text;
    if (!read_json(in_, into)) return false;
    const std::string wrong = objection_to_length(field, into);
    return wrong.empty() || in_.fail(wrong);
  }

  bool is_fit(const Field& field) {
    const std::string wrong = objection_to_text(field, job_.*field.text);
    return wrong.empty() || in_.fail(wrong);
  }

  bool tag(const Field& field) {
    std::string compact;
    if (!in_.skip(&compact)) return false;
    if (const std::string wrong = objection_to_length(field, compact); !wrong.empty())
      return in_.fail(wrong);
    job_.tag = std::move(compact);
    return true;
  }

  JsonReader in_;
  Job& job_;
  uint64_t given_ = 0;
  std::vector<InputFile> sources_;
};

// The first that the job has; empty: none.
std::string_view field_of_fixed_mode(const JobParser& parser) {
  for (const std::string_view field : kOfFixedMode) {
    if (parser.gave(field)) return field;
  }
  return {};
}

sys::Error too_long() {
  return sys::Error::because("longer than " + std::to_string(kMaxJobBytes >> 20) + " MiB");
}

}  // namespace

sys::Result<JobDefaults> parse_defaults(std::string_view json) {
  if (json.size() > kMaxJobBytes) return too_long();
  JobDefaults defaults;
  JobParser parser(json, defaults.job);
  if (!parser.object("") || !parser.finish()) return parser.in().error();
  if (parser.gave("id")) return sys::Error::because("id: each job has its own, so not in defaults");
  if (parser.gave("sources"))
    return sys::Error::because("sources: each job has its own, so not in defaults");
  if (parser.gave("inputs") && parser.gave("calls")) {
    return sys::Error::because("calls: not together with inputs");
  }
  return defaults;
}

sys::Result<Job> parse_job(std::string_view line, const JobDefaults& defaults, Parts parts) {
  if (line.size() > kMaxJobBytes) return too_long();
  Job job = defaults.job;
  JobParser parser(line, job);
  parser.in().bring(std::move(parts));
  if (!parser.object("") || !parser.finish()) return parser.in().error();
  const Given given{.source = parser.gave("source"),
                    .func = parser.gave("func"),
                    .inputs = parser.gave("inputs"),
                    .calls = parser.gave("calls"),
                    .of_fixed_mode = field_of_fixed_mode(parser)};
  if (const std::string objection = objection_to_job(given, job); !objection.empty())
    return sys::Error::because(objection);
  if (auto misfit = take_sources(std::move(parser.sources()), job.files, job.sources))
    return sys::Error::because(place_of("sources", misfit->path) + ": " + misfit->why);
  const std::string wrong = objection_to_files_of_tests(job);
  if (!wrong.empty()) return sys::Error::because(wrong);
  TRY(keep_record(job));
  return job;
}

}  // namespace runtime
