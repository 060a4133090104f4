#include "runtime/remote/job_wire.h"

#include "runtime/remote/wire.h"

namespace runtime {

template <>
struct WireEnd<Comparator> {
  static constexpr auto kLast = Comparator::kChecker;
};
template <>
struct WireEnd<Refusals> {
  static constexpr auto kLast = Refusals::kOverlooked;
};
template <>
struct WireEnd<sandbox::Profile> {
  static constexpr auto kLast = sandbox::Profile::kBuild;
};
template <>
struct WireEnd<sandbox::OnViolation> {
  static constexpr auto kLast = sandbox::OnViolation::kKill;
};
template <>
struct WireEnd<sandbox::Level> {
  static constexpr auto kLast = sandbox::Level::kMinimal;
};
template <>
struct WireEnd<shim::Mode> {
  static constexpr auto kLast = shim::Mode::kCall;
};
template <>
struct WireEnd<Checker::Protocol> {
  static constexpr auto kLast = Checker::Protocol::kIcpc;
};
template <>
struct WireEnd<Execution::Errors> {
  static constexpr auto kLast = Execution::Errors::kNowhere;
};
template <>
struct WireEnd<InteractivePair::Side> {
  static constexpr auto kLast = InteractivePair::Side::kInteractor;
};
template <>
struct WireEnd<Outcome> {
  static constexpr auto kLast = Outcome::kSandboxError;
};
template <>
struct WireEnd<By> {
  static constexpr auto kLast = By::kSandbox;
};
template <>
struct WireEnd<ObservedCall::Treatment> {
  static constexpr auto kLast = ObservedCall::Treatment::kRefused;
};

// The members of what travels, in one order for both directions. Found by the archives through
// their arguments, so they are in no namespace of their own.

template <typename Archive>
static void fields(Archive& a, InputFile& file) {
  a(file.path, file.content, file.executable, file.link, file.blob);
}

template <typename Archive>
static void fields(Archive& a, Policy& p) {
  a(p.profile, p.has_profile, p.by_program, p.refusals, p.on_violation, p.require);
}

template <typename Archive>
static void fields(Archive& a, TokenRules& rules) {
  a(rules.case_counts, rules.space_counts, rules.absolute, rules.relative);
}

template <typename Archive>
static void fields(Archive& a, TestCase& test) {
  a(test.name, test.stdin_bytes, test.argv, test.calls, test.expect, test.comparator,
    test.tolerance, test.rules, test.checker_argv, test.files, test.judge_files, test.scored);
}

template <typename Archive>
static void fields(Archive& a, Limits& l) {
  a(l.wall, l.cpu, l.memory, l.pids, l.out, l.err, l.value, l.disk, l.file, l.files, l.open_files,
    l.outputs, l.stack);
}

template <typename Archive>
static void fields(Archive& a, Checker& c) {
  a(c.template_name, c.source, c.files, c.sources, c.compiler_flags, c.argv, c.protocol, c.scores,
    c.keeps_feedback, c.limits);
}

template <typename Archive>
static void fields(Archive& a, Execution& e) {
  a(e.directory, e.address_space, e.file_size, e.stack, e.errors);
}

template <typename Archive>
static void fields(Archive& a, FixedMode& f) {
  a(f.on, f.seed, f.clock_step_us, f.start);
}

template <typename Archive>
static void fields(Archive& a, JobSpec& j) {
  a(j.id, j.tag, j.tenant, j.template_name, j.source, j.source_blob, j.source_has_coding,
    j.source_name, j.source_names, j.mode, j.func, j.calls, j.array, j.argv, j.env, j.stdin_bytes,
    j.files, j.sources, j.compiler_flags, j.outputs, j.tests, j.stop_at_failure, j.tests_output,
    j.checker, j.interactor, j.build_only, j.limits, j.policy, j.determinism_runs, j.fixed,
    j.priority, j.deadline, j.observe, j.record);
}

template <typename Archive>
static void fields(Archive& a, Verdict& v) {
  a(v.outcome, v.exception_type, v.by, v.detail);
}

template <typename Archive>
static void fields(Archive& a, ExitStatus& exit) {
  a(exit.signalled, exit.code);
}

template <typename Archive>
static void fields(Archive& a, Output& out) {
  a(out.bytes, out.total, out.truncated);
}

template <typename Archive>
static void fields(Archive& a, Exception& e) {
  a(e.type, e.message, e.traceback, e.line);
}

template <typename Archive>
static void fields(Archive& a, Usage& u) {
  a(u.cpu_us, u.wall_us, u.stopped_us, u.memory_peak_bytes, u.pids_peak, u.contended, u.reruns,
    u.rerun_cpu_us, u.max_rss_kb, u.switches_voluntary, u.switches_forced);
}

template <typename Archive>
static void fields(Archive& a, Timing& t) {
  a(t.admit, t.lease, t.fork, t.confine, t.run, t.collect, t.judge, t.rollback);
}

template <typename Archive>
static void fields(Archive& a, DeterminismReport& report) {
  a(report.runs, report.same, report.axis, report.where, report.fixed, report.seed,
    report.not_fixed);
}

template <typename Archive>
static void fields(Archive& a, CompileReport& report) {
  a(report.cached, report.wall_us);
}

template <typename Archive>
static void fields(Archive& a, JudgeScore& score) {
  a(score.score, score.multiplier);
}

template <typename Archive>
static void fields(Archive& a, OutputFiles::Refused& refused) {
  a(refused.path, refused.why);
}

template <typename Archive>
static void fields(Archive& a, OutputFiles& files) {
  a(files.files, files.refused, files.lack);
}

template <typename Archive>
static void fields(Archive& a, TestResult& t) {
  a(t.name, t.skipped, t.verdict, t.exit, t.out, t.err, t.exception, t.usage, t.given, t.feedback);
}

template <typename Archive>
static void fields(Archive& a, ObservedCall& call) {
  a(call.name, call.treatment, call.error, call.argument, call.count, call.needs);
}

template <typename Archive>
static void fields(Archive& a, JobDigests& d) {
  a(d.job, d.source, d.stdin_bytes, d.calls, d.files);
}

template <typename Archive>
static void fields(Archive& a, RecordedJob& job) {
  a(job.json, job.digests);
}

template <typename Archive>
static void fields(Archive& a, Origin& o) {
  a(o.zygo, o.kernel, o.machine, o.template_name, o.identity, o.interpreter, o.interpreter_digest,
    o.preloads, o.setup, o.image, o.seed);
}

// What is shared here is a copy at the other end; null: none.
template <typename T>
static void write_shared(const std::shared_ptr<const T>& value, WireWriter& out) {
  out(value != nullptr);
  if (value) out(*value);
}

template <typename T>
static void read_shared(WireReader& in, std::shared_ptr<const T>& value) {
  bool has = false;
  in(has);
  if (!has || !in.ok()) return;
  T read;
  in(read);
  value = std::make_shared<const T>(std::move(read));
}

template <typename Archive>
static void fields(Archive& a, StepReport& s) {
  a(s.node, s.parent, s.kept, s.why_not, s.bytes);
}

template <typename Archive>
static void fields(Archive& a, JobResult& r) {
  a(r.id, r.tag, r.verdict, r.exit, r.ended_at, r.out, r.err, r.value, r.array, r.exception,
    r.usage, r.timing, r.determinism, r.compile, r.tests, r.files, r.observed, r.level,
    r.template_id);
}

void write_job(const Job& job, WireWriter& out) {
  out(static_cast<const JobSpec&>(job), job.run_files, job.execution, job.side,
      job.watch ? job.watch->client : std::string());
  write_shared(job.recorded, out);
}

bool read_job(WireReader& in, Job& job) {
  std::string client;
  in(static_cast<JobSpec&>(job), job.run_files, job.execution, job.side, client);
  job.watch = std::make_shared<JobWatch>();
  job.watch->client = std::move(client);
  read_shared(in, job.recorded);
  return in.ok();
}

void write_step(const Job& job, WireWriter& out) {
  out(job.session, job.shell, job.keep, job.seed);
}
bool read_step(WireReader& in, Job& job) {
  in(job.session, job.shell, job.keep, job.seed);
  return in.ok();
}

void write_step(const JobResult& result, WireWriter& out) { out(result.step, result.display); }
bool read_step(WireReader& in, JobResult& result) {
  in(result.step, result.display);
  return in.ok();
}

void write_result(const JobResult& result, WireWriter& out) {
  out(result, result.enforced.bits(), result.record.has_value());
  if (!result.record) return;
  write_shared(result.record->job, out);
  write_shared(result.record->origin, out);
}

bool read_result(WireReader& in, JobResult& result) {
  uint32_t layers = 0;
  bool has_record = false;
  in(result, layers, has_record);
  result.enforced = sandbox::Layers::from_bits(layers);
  if (has_record && in.ok()) {
    JobRecord& record = result.record.emplace();
    read_shared(in, record.job);
    read_shared(in, record.origin);
    if (!record.job) in.fail();
  }
  return in.ok();
}

}  // namespace runtime
