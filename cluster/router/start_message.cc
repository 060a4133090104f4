#include "cluster/router/start_message.h"

#include <unistd.h>

#include <string>

#include "cluster/wire/messages.h"
#include "runtime/builds/artefact.h"
#include "runtime/remote/job_wire.h"

namespace cluster {

namespace {

std::string bytes_of(const runtime::Artefact& artefact) {
  std::string bytes(artefact.bytes, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(artefact.program.get(), bytes.data() + have, bytes.size() - have,
                                static_cast<off_t>(have));
    if (got <= 0) return {};
    have += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace

void write_start(uint64_t number, const runtime::Job& job, uint16_t version,
                 runtime::WireWriter& out) {
  StartHead head{.number = number};
  const bool has_program = job.program && job.program->program;
  if (has_program) head.flags |= StartHead::kProgram;
  if (job.live) head.flags |= StartHead::kLive;
  const bool has_trace = version >= kTraceVersion && job.watch && !job.watch->trace.empty();
  if (has_trace) head.flags |= StartHead::kTrace;
  out(head);
  runtime::write_job(job, out);
  if (has_program) out(bytes_of(*job.program));
  if (has_trace) out(job.watch->trace);
}

}  // namespace cluster
