// The judge. kPrecedence is the order in which causes decide when several are true at once; the
// rest of the file says what each verdict tells. Evidence is what the kernel and the supervisor
// saw; testimony is what the program's side says, and it may worsen a verdict, never better it.

#include "runtime/judging/judge.h"

#include <algorithm>
#include <csignal>

#include "runtime/judging/signal_names.h"

namespace runtime {

namespace {

struct Case {
  const Evidence& seen;
  const Testimony& said;
};

// ---- Which causes hold

using Kind = Testimony::Kind;

bool raised(const Case& c) { return c.said.kind == Kind::kException; }
bool clean_exit(const Case& c) { return !c.seen.exit.signalled && c.seen.exit.code == 0; }

bool was_cancelled(const Case& c) { return c.seen.cancelled; }
bool we_failed(const Case& c) { return c.seen.fault.has_value(); }
bool broke_the_policy(const Case& c) {
  return c.seen.violation.has_value() || c.seen.killed_for_violation;
}
int64_t bytes_of(sys::Bytes amount) { return static_cast<int64_t>(amount.count); }

// The kernel says EAGAIN of a thread for whose stack there is no memory as of one that is too many
// (pthread_create(3)). No counter has refused it, and the memory is used up but for such a stack.
bool has_no_memory_for_a_thread(const Case& c) {
  constexpr int64_t kStacks = int64_t{32} << 20;
  const int64_t limit = bytes_of(c.seen.limits.memory);
  return raised(c) && c.said.no_thread_by_interpreter && c.seen.pids_refused == 0 &&
         c.seen.memory_peak_bytes >= limit - std::min(limit / 4, kStacks);
}
bool memory_ran_out(const Case& c) {
  return c.seen.oom_kills > 0 || c.seen.memory_watch || has_no_memory_for_a_thread(c) ||
         (raised(c) && c.said.memory_error_by_interpreter);
}
bool cpu_ran_out(const Case& c) { return c.seen.deadline == DeadlineKind::kCpu; }
bool wall_ran_out(const Case& c) { return c.seen.deadline == DeadlineKind::kWall; }
bool stdout_ran_over(const Case& c) { return c.seen.overflow == Stream::kStdout; }
bool stderr_ran_over(const Case& c) { return c.seen.overflow == Stream::kStderr; }
bool value_is_invalid(const Case& c) { return c.said.call_mode && c.said.kind == Kind::kInvalid; }
bool was_signalled(const Case& c) { return c.seen.exit.signalled; }
bool exited_with_a_code(const Case& c) { return c.seen.exit.code != 0; }
bool ended_before_returning(const Case& c) {
  return c.said.call_mode && c.said.kind != Kind::kValue;
}
bool ended_well(const Case& c) {
  return clean_exit(c) && !raised(c) && !value_is_invalid(c) && !ended_before_returning(c);
}

// The kernel refuses to let a file grow: by SIGXFSZ, or by EFBIG where that is ignored
// (setrlimit(2)).
bool has_limit_of_file(const Case& c) { return c.seen.limits.file.count > 0; }
bool file_grew_too_large(const Case& c) {
  return has_limit_of_file(c) && c.seen.exit == ExitStatus{true, SIGXFSZ};
}

// A full scratch decides only when the run failed. No kernel counter says that a write was refused:
// "full at the end" is true as well of a program that filled its scratch exactly, or met ENOSPC,
// coped and ended well; that one stays OK.
bool disk_ran_out(const Case& c) {
  return c.seen.disk_watch || file_grew_too_large(c) || (c.seen.disk_full && !ended_well(c)) ||
         (raised(c) && c.said.no_space_by_interpreter);
}
bool processes_ran_out(const Case& c) {
  return c.seen.pids_refused > 0 || (raised(c) && c.said.no_thread_by_interpreter);
}
bool otherwise(const Case&) { return true; }

// ---- What each verdict tells

Verdict verdict(Outcome outcome, By by, Detail detail = {}) {
  return {.outcome = outcome, .exception_type = {}, .by = by, .detail = std::move(detail)};
}

// Total even over testimony that says "exception" and brings none.
const Exception& exception_of(const Case& c) {
  static const Exception unknown;
  return c.said.exception ? *c.said.exception : unknown;
}

void add_text(Detail& detail, const char* key, const std::string& text) {
  if (!text.empty()) detail.emplace_back(key, text);
}
void add_line(Detail& detail, int64_t line) {
  if (line >= 0) detail.emplace_back("line", line);
}

Verdict cancelled(const Case&) { return verdict(Outcome::kCancelled, By::kCaller); }

Verdict sandbox_error(const Case& c) {
  const Evidence::Fault& fault = *c.seen.fault;
  return verdict(Outcome::kSandboxError, By::kSandbox,
                 {{"step", fault.name_of_step()},
                  {"errno", int64_t{fault.error}},
                  {"message", fault.message}});
}

Verdict unsafe_code(const Case& c) {
  Detail detail;
  if (c.seen.violation) {
    const Violation& violation = *c.seen.violation;
    detail.emplace_back("syscall", violation.call);
    add_text(detail, "argument", violation.argument);
    add_text(detail, "operation", violation.event);
    add_line(detail, violation.line);
    detail.emplace_back("count", int64_t{violation.count});
  }
  detail.emplace_back("policy", std::string(c.seen.killed_for_violation ? "kill" : "deny"));
  return verdict(Outcome::kUnsafeCode, By::kPolicy, std::move(detail));
}

Verdict memory_limit(const Case& c) {
  const char* source = c.seen.oom_kills > 0            ? "oom counter"
                       : c.seen.memory_watch           ? "memory watch"
                       : has_no_memory_for_a_thread(c) ? "RuntimeError"
                                                       : "MemoryError";
  Detail detail = {{"limit", "memory"},
                   {"limit_bytes", bytes_of(c.seen.limits.memory)},
                   {"peak_bytes", c.seen.memory_peak_bytes},
                   {"source", source}};
  if (raised(c) && (c.said.memory_error_by_interpreter || has_no_memory_for_a_thread(c))) {
    add_line(detail, exception_of(c).line);
    add_text(detail, "message", exception_of(c).message);
  }
  return verdict(Outcome::kMemoryLimit, By::kLimit, std::move(detail));
}

Verdict timeout(const Case& c, const char* which, int64_t limit_ms, int64_t measured_ms) {
  return verdict(Outcome::kTimeout, By::kLimit,
                 {{"limit", which},
                  {"limit_ms", limit_ms},
                  {"measured_ms", measured_ms},
                  {"contended", c.seen.contended}});
}
Verdict cpu_timeout(const Case& c) {
  return timeout(c, "cpu", c.seen.limits.cpu.count(), c.seen.cpu_ms);
}
std::string_view name_of(Slowness slowness) {
  switch (slowness) {
    case Slowness::kNone:
      break;
    case Slowness::kStolenTime:
      return "stolen time";
    case Slowness::kDisk:
      return "disk";
  }
  return {};
}

Verdict wall_timeout(const Case& c) {
  Verdict found = timeout(c, "wall", c.seen.limits.wall.count(), c.seen.wall_ms);
  if (c.seen.waited_ms > 0) found.detail.emplace_back("waited_ms", c.seen.waited_ms);
  add_text(found.detail, "slowed_by", std::string(name_of(c.seen.slowed_by)));
  return found;
}

Verdict output_limit(const char* stream, int64_t limit_bytes) {
  return verdict(Outcome::kOutputLimit, By::kLimit,
                 {{"limit", stream}, {"limit_bytes", limit_bytes}});
}
Verdict stdout_limit(const Case& c) { return output_limit("stdout", bytes_of(c.seen.limits.out)); }
Verdict stderr_limit(const Case& c) { return output_limit("stderr", bytes_of(c.seen.limits.err)); }

Verdict disk_limit(const Case& c) {
  Detail detail;
  const bool is_scratch = c.seen.disk_watch || c.seen.disk_full;
  if (has_limit_of_file(c) && !is_scratch) {
    detail = {{"limit", "file"}, {"limit_bytes", bytes_of(c.seen.limits.file)}};
  } else if (c.seen.inodes_full) {
    detail = {{"limit", "files"}, {"limit_count", int64_t{c.seen.limits.files}}};
  } else {
    detail = {{"limit", "disk"}, {"limit_bytes", bytes_of(c.seen.limits.disk)}};
  }
  detail.emplace_back("source", c.seen.disk_watch        ? "disk watch"
                                : c.seen.disk_full       ? "scratch is full"
                                : file_grew_too_large(c) ? "SIGXFSZ"
                                                         : "OSError");
  if (raised(c) && c.said.no_space_by_interpreter) add_line(detail, exception_of(c).line);
  return verdict(Outcome::kDiskLimit, By::kLimit, std::move(detail));
}

Verdict process_limit(const Case& c) {
  const bool counted = c.seen.pids_refused > 0;
  Detail detail = {{"limit", "pids"}, {"limit_count", int64_t{c.seen.limits.pids}}};
  if (counted) detail.emplace_back("refused", int64_t{c.seen.pids_refused});
  detail.emplace_back("source", counted ? "pids counter" : "RuntimeError");
  if (raised(c) && c.said.no_thread_by_interpreter) add_line(detail, exception_of(c).line);
  return verdict(Outcome::kProcessLimit, By::kLimit, std::move(detail));
}

Verdict invalid_result(const Case& c) {
  Detail detail;
  add_text(detail, "reason", c.said.invalid_reason);
  add_text(detail, "where", c.said.invalid_path);
  return verdict(Outcome::kInvalidResult, By::kProgram, std::move(detail));
}

Verdict exception(const Case& c) {
  Verdict made = verdict(Outcome::kException, By::kProgram);
  made.exception_type = exception_of(c).type;
  if (c.said.could_not_start) made.detail.emplace_back("stage", "compile");
  add_line(made.detail, exception_of(c).line);
  return made;
}

Verdict signalled(const Case& c) {
  return verdict(Outcome::kSignalled, By::kProgram, {{"signal", signal_name(c.seen.exit.code)}});
}

Verdict non_zero_exit(const Case& c) {
  Detail detail = {{"code", int64_t{c.seen.exit.code}}};
  if (ended_before_returning(c)) detail.emplace_back("reason", "ended before returning");
  return verdict(Outcome::kNonZeroExit, By::kProgram, std::move(detail));
}

Verdict no_value(const Case& c) {
  Detail detail = {{"reason", "ended before returning"}};
  if (c.said.kind == Kind::kGarbled) detail.emplace_back("answer", "garbled");
  return verdict(Outcome::kNonZeroExit, By::kProgram, std::move(detail));
}

Verdict fine(const Case&) { return verdict(Outcome::kOk, By::kProgram); }

// ---- The precedence: the first row that holds decides

struct Row {
  bool (*holds)(const Case&);
  Verdict (*decide)(const Case&);
};

constexpr Row kPrecedence[] = {
    // The caller and we ourselves: nothing about the program can be said.
    {was_cancelled, cancelled},
    {we_failed, sandbox_error},
    // Policy, then limits. CPU before wall: a job that burned its CPU time is slow, not starved.
    {broke_the_policy, unsafe_code},
    {memory_ran_out, memory_limit},
    {cpu_ran_out, cpu_timeout},
    {wall_ran_out, wall_timeout},
    {stdout_ran_over, stdout_limit},
    {stderr_ran_over, stderr_limit},
    {disk_ran_out, disk_limit},
    {processes_ran_out, process_limit},
    // The program's own ways to fail.
    {value_is_invalid, invalid_result},
    {raised, exception},
    {was_signalled, signalled},
    {exited_with_a_code, non_zero_exit},
    {ended_before_returning, no_value},
    // Nothing is left but a clean exit, with a complete value where one was asked for.
    {otherwise, fine},
};

}  // namespace

Verdict judge(const Evidence& seen, const Testimony& said) {
  const Case c{seen, said};
  for (const Row& row : kPrecedence) {
    if (row.holds(c)) return row.decide(c);
  }
  return verdict(Outcome::kSandboxError, By::kSandbox);  // unreachable: the last row always holds
}

void give_up(JobResult& result, const Evidence::Fault& fault) {
  JobResult without;
  without.id = std::move(result.id);
  without.tag = std::move(result.tag);
  without.usage = result.usage;
  without.timing = result.timing;
  without.level = result.level;
  without.enforced = result.enforced;
  without.template_id = std::move(result.template_id);
  Evidence seen;
  seen.fault = fault;
  without.verdict = judge(seen, {});
  result = std::move(without);
}

}  // namespace runtime
