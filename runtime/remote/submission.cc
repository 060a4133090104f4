#include "runtime/remote/submission.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "runtime/builds/artefact.h"
#include "runtime/remote/job_wire.h"
#include "runtime/remote/wire.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

bool is_readable_pipe(int fd) {
  struct stat info {};
  const int flags = ::fcntl(fd, F_GETFL);
  return ::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && flags >= 0 &&
         (flags & O_ACCMODE) == O_RDONLY;
}

Result<std::shared_ptr<const Artefact>> program_of(sys::OwnedFd fd) {
  struct stat info {};
  if (!is_sealed(fd.get()) || ::fstat(fd.get(), &info) < 0)
    return Error::because("a program that is no sealed file");
  auto artefact = std::make_shared<Artefact>();
  artefact->program = std::move(fd);
  artefact->bytes = static_cast<uint64_t>(info.st_size);
  return std::shared_ptr<const Artefact>(std::move(artefact));
}

}  // namespace

void Submission::read() {
  WireReader in(message.bytes());
  MessageKind kind{};
  uint64_t number = 0;
  in(kind, number);
  if (kind == MessageKind::kSubmitPair) in(one_way);
  size_t taken = 0;
  for (int i = 0; i < (kind == MessageKind::kSubmitPair ? 2 : 1) && wrong.empty(); ++i) {
    SubmittedJob& submitted = jobs.emplace_back();
    in(submitted.head);
    if (!read_job(in, submitted.job) || !read_step(in, submitted.job)) wrong = "what is no job";
    if (wrong.empty()) take_descriptors(submitted, taken);
  }
  if (wrong.empty() && (!in.at_end() || taken != message.fds.size())) wrong = "more than a job";
  message = {};
}

void Submission::take_descriptors(SubmittedJob& submitted, size_t& taken) {
  const uint8_t flags = submitted.head.flags;
  const size_t wanted = (flags & JobHead::kProgram ? 1 : 0) + (flags & JobHead::kLive ? 1 : 0);
  if (flags > (JobHead::kProgram | JobHead::kLive) || message.fds.size() < taken + wanted) {
    wrong = "a job without its descriptors";
    return;
  }
  if (flags & JobHead::kProgram) {
    auto program = program_of(std::move(message.fds[taken++]));
    if (!program) {
      wrong = program.error().text();
      return;
    }
    submitted.job.program = std::move(program).value();
  }
  if (flags & JobHead::kLive) {
    sys::OwnedFd reader = std::move(message.fds[taken++]);
    if (!is_readable_pipe(reader.get())) {
      wrong = "a stdin that is no pipe";
      return;
    }
    submitted.live = std::make_shared<OrderedLive>();
    submitted.live->io = LiveIo::adopt(std::move(reader));
  }
}

}  // namespace runtime
