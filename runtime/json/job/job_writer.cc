#include "runtime/json/job/job_writer.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/json/job/job_fields.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "runtime/values/value_walk.h"

namespace runtime {

namespace {

// An object while it is written.
class ObjectWriter {
 public:
  std::string& key(std::string_view name) {
    if (!empty()) text_ += ',';
    append_json_string(name, text_);
    text_ += ':';
    return text_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(value, key(name)); }
  void raw(std::string_view name, std::string_view json) { key(name) += json; }
  void integer(std::string_view name, int64_t value) { append_json_integer(value, key(name)); }
  bool empty() const { return text_.size() == 1; }
  std::string take() { return std::move(text_) + '}'; }

 private:
  std::string text_ = "{";
};

template <typename Items, typename Append>
std::string list_of(const Items& items, Append append) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    append(item, text);
  }
  return text + ']';
}

std::string texts(const std::vector<std::string>& items) {
  return list_of(items,
                 [](const std::string& item, std::string& to) { append_json_string(item, to); });
}

std::string base64(std::string_view bytes) {
  std::string text = "{\"b64\":\"";
  append_base64(bytes, text);
  return text + "\"}";
}

std::string bytes_or_text(std::string_view bytes) {
  if (!is_utf8(bytes)) return base64(bytes);
  std::string text;
  append_json_string(bytes, text);
  return text;
}

std::string blob(const std::string& digest) { return "{\"blob\":\"" + digest + "\"}"; }

std::string source_of(const std::string& text, const std::string& digest) {
  return digest.empty() ? bytes_or_text(text) : blob(digest);
}

std::string content_of(const InputFile& file) {
  ObjectWriter object;
  if (file.path.ends_with('/')) {
    object.raw("directory", "true");
  } else if (!file.blob.empty()) {
    object.text("blob", file.blob);
  } else if (is_utf8(file.content)) {
    object.text("text", file.content);
  } else {
    std::string encoded;
    append_base64(file.content, encoded);
    object.text("b64", encoded);
  }
  if (file.executable) object.raw("executable", "true");
  return object.take();
}

// [args, kwargs] pairs of a list in value format, as JSON each.
struct CallText {
  std::string args, kwargs;
};
std::vector<CallText> calls_of(std::string_view value) {
  std::vector<CallText> calls;
  std::vector<ValueNode> nodes;
  if (walk_value(value, &nodes) != nullptr) return calls;
  ValueCursor at{value, &nodes};
  const uint32_t count = at.count();
  at.enter();
  for (uint32_t i = 0; i < count; ++i) {
    at.enter();
    CallText& call = calls.emplace_back();
    append_json(at.item(), false, call.args);
    at.skip();
    append_json(at.item(), false, call.kwargs);
    at.skip();
  }
  return calls;
}

// The word of docs/jobs.md; nothing: it has none.
std::optional<std::string> word_of(Comparator comparator, double tolerance, bool of_value) {
  std::string as_float = "float:";
  append_json_double(tolerance, as_float);
  switch (comparator) {
    case Comparator::kExact:
    case Comparator::kValue:
      return "exact";
    case Comparator::kLines:
      return "lines";
    case Comparator::kTokens:
      return "tokens";
    case Comparator::kFloat:
      return as_float;
    case Comparator::kJson:
      return of_value && tolerance != 0 ? as_float : "json";
    case Comparator::kChecker:
      return "checker";
    case Comparator::kRules:
    case Comparator::kAlike:
      break;
  }
  return std::nullopt;
}

class JobWriter {
 public:
  JobWriter(const JobSpec& job, Usual usual) : job_(job), written_(usual) {}

  sys::Result<std::string> write() {
    refuse_what_has_no_field();
    for (const Field& field : job_fields()) {
      if (!wrong_.empty()) return sys::Error::because(wrong_);
      const size_t dot = field.path.find('.');
      if (dot == field.path.npos) {
        end_group();
        if (field.kind == FieldKind::kObject) {
          group_name_ = field.path;
        } else {
          write(field, field.path, line_);
        }
      } else {
        write(field, field.path.substr(dot + 1), group_);
      }
    }
    end_group();
    if (!wrong_.empty()) return sys::Error::because(wrong_);
    return line_.take();
  }

 private:
  void refuse(std::string_view field, std::string_view why) {
    if (wrong_.empty()) wrong_ = std::string(field) + ": " + std::string(why);
  }

  void refuse_what_has_no_field() {
    constexpr std::string_view kNone = "JSON cannot say it";
    if (job_.source_has_coding) refuse("source", "not UTF-8");
    if (!job_.source_name.empty() || !job_.source_names.empty()) refuse("source names", kNone);
    if (job_.tests_output.count > 0) refuse("tests", kNone);
    if (job_.build_only || job_.observe) refuse("mode", kNone);
    if (job_.policy.by_program || job_.policy.refusals != Refusals::kDecide)
      refuse("policy", kNone);
  }

  void end_group() {
    if (!group_.empty()) line_.raw(group_name_, std::exchange(group_, {}).take());
  }

  void write(const Field& field, std::string_view name, ObjectWriter& to) {
    switch (field.kind) {
      case FieldKind::kInteger:
      case FieldKind::kBoolean:
      case FieldKind::kChoice:
        return number(field, name, to);
      case FieldKind::kText:
        return text(field, name, to);
      case FieldKind::kJson:
        if (job_.tag != usual_.tag) to.raw(name, job_.tag);
        return;
      case FieldKind::kBytes:
        if (!job_.stdin_bytes.empty()) to.raw(name, bytes_or_text(job_.stdin_bytes));
        return;
      case FieldKind::kSource:
        return to.raw(name, source_of(job_.source, job_.source_blob));
      case FieldKind::kTexts:
        return list(name, job_.argv, to);
      case FieldKind::kGlobs:
        return list(name, job_.outputs, to);
      case FieldKind::kFlags:
        return list(name, job_.compiler_flags, to);
      case FieldKind::kRequire:
        return list(name, job_.policy.require, to);
      case FieldKind::kEnvironment:
        return environment(name, to);
      case FieldKind::kFiles:
        return files(name, job_.files, job_.sources, to);
      case FieldKind::kSources:
        return sources(name, job_.files, job_.sources, to);
      case FieldKind::kCalls:
        return calls(name, to);
      case FieldKind::kTests:
        return tests(name, to);
      case FieldKind::kChecker:
        return judge(name, job_.checker, to);
      case FieldKind::kInteractor:
        return judge(name, job_.interactor, to);
      case FieldKind::kInputs:  // said as calls
      case FieldKind::kObject:
        return;
    }
  }

  void text(const Field& field, std::string_view name, ObjectWriter& to) {
    const std::string& value = job_.*field.text;
    const bool is_told = written_ == Usual::kWritten && !value.empty();
    if (is_told || value != usual_.*field.text) to.text(name, value);
  }

  // A default that the table has in words, no number says.
  void number(const Field& field, std::string_view name, ObjectWriter& to) {
    if (!job_.fixed.on && std::ranges::find(kOfFixedMode, field.path) != kOfFixedMode.end()) return;
    const int64_t value = field.number.get(job_);
    const bool is_given = field.path == "policy.profile" ? job_.policy.has_profile
                                                         : value != field.number.get(usual_);
    if (!is_given && (written_ == Usual::kOmitted || !field.fallback.empty())) return;
    if (field.kind == FieldKind::kInteger) return to.integer(name, value);
    if (field.kind == FieldKind::kBoolean) return to.raw(name, value != 0 ? "true" : "false");
    to.text(name, field.choices[static_cast<size_t>(value)]);
  }

  void list(std::string_view name, const std::vector<std::string>& items, ObjectWriter& to) {
    if (!std::ranges::all_of(items, is_utf8)) refuse(name, "not UTF-8");
    if (!items.empty()) to.raw(name, texts(items));
  }

  void environment(std::string_view name, ObjectWriter& to) {
    ObjectWriter object;
    for (const auto& [variable, value] : job_.env) object.text(variable, value);
    if (!object.empty()) to.raw(name, object.take());
  }

  static bool is_source(const InputFile& file, const std::vector<std::string>& sources) {
    return std::ranges::find(sources, file.path) != sources.end();
  }

  void files(std::string_view name, const std::vector<InputFile>& files,
             const std::vector<std::string>& sources, ObjectWriter& to) {
    ObjectWriter object;
    for (const InputFile& file : files) {
      if (is_source(file, sources)) continue;
      if (file.link) refuse(name, "a link");
      const std::string_view path = file.path;
      object.raw(path.substr(0, path.size() - path.ends_with('/')), content_of(file));
    }
    if (!object.empty()) to.raw(name, object.take());
  }

  static void sources(std::string_view name, const std::vector<InputFile>& files,
                      const std::vector<std::string>& sources, ObjectWriter& to) {
    ObjectWriter object;
    for (const InputFile& file : files) {
      if (is_source(file, sources)) object.raw(file.path, source_of(file.content, file.blob));
    }
    if (!object.empty()) to.raw(name, object.take());
  }

  void calls(std::string_view name, ObjectWriter& to) {
    if (!job_.calls.empty()) to.raw(name, calls_json(job_));
  }

  void tests(std::string_view name, ObjectWriter& to) {
    if (job_.tests.empty()) return;
    to.raw(name, list_of(job_.tests, [this](const TestCase& test, std::string& into) {
             into += test_object(test);
           }));
  }

  std::string test_object(const TestCase& test) {
    const bool of_value = !test.calls.empty();
    const auto word = word_of(test.comparator, test.tolerance, of_value);
    if (!word || !test.checker_argv.empty() || !test.judge_files.empty() || !test.scored)
      refuse("tests", "JSON cannot say how one is judged");
    ObjectWriter object;
    object.text("name", test.name);
    if (!test.stdin_bytes.empty()) object.raw("stdin", bytes_or_text(test.stdin_bytes));
    list("argv", test.argv, object);
    files("files", test.files, {}, object);
    for (const CallText& call : calls_of(test.calls)) {
      object.raw("args", call.args);
      object.raw("kwargs", call.kwargs);
    }
    if (test.expect && of_value) object.raw("expect", expected_value(test));
    if (test.expect && !of_value) {
      if (!is_utf8(*test.expect)) refuse("tests", "expect is not UTF-8");
      object.text("expect", *test.expect);
    }
    if (word) object.text("compare", *word);
    return object.take();
  }

  static std::string expected_value(const TestCase& test) {
    if (test.comparator != Comparator::kValue) return *test.expect;
    std::string json;
    append_json(*test.expect, false, json);
    return json;
  }

  void judge(std::string_view name, const std::optional<Checker>& checker, ObjectWriter& to) {
    if (!checker) return;
    if (!checker->scores || checker->limits != Limits{})
      refuse(name, "JSON cannot say how it judges");
    ObjectWriter object;
    object.text("template", checker->template_name);
    object.text("source", checker->source);
    files("files", checker->files, checker->sources, object);
    sources("sources", checker->files, checker->sources, object);
    list("compiler_flags", checker->compiler_flags, object);
    list("argv", checker->argv, object);
    if (checker->protocol == Checker::Protocol::kIcpc) object.text("protocol", "icpc");
    if (checker->keeps_feedback) object.raw("feedback", "true");
    to.raw(name, object.take());
  }

  const JobSpec& job_;
  const JobSpec usual_;
  const Usual written_;
  ObjectWriter line_, group_;
  std::string_view group_name_;
  std::string wrong_;
};

}  // namespace

sys::Result<std::string> job_line(const JobSpec& job, Usual usual) {
  return JobWriter(job, usual).write();
}

std::string calls_json(const JobSpec& job) {
  if (job.calls.empty()) return "";
  return list_of(calls_of(job.calls), [](const CallText& call, std::string& into) {
    into += "{\"args\":" + call.args + ",\"kwargs\":" + call.kwargs + '}';
  });
}

}  // namespace runtime
