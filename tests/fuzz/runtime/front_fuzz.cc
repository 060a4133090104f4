// Reads what a front that somebody else controls may send to the engine: a message is read whole or
// not at all, and a job that is read and that nothing is objected to makes a well-formed request.

#include "runtime/json/job/job_check.h"
#include "runtime/remote/job_wire.h"
#include "runtime/remote/protocol.h"
#include "runtime/values/value.h"

namespace {

std::string written(const runtime::Job& job) {
  runtime::WireWriter out;
  write_job(job, out);
  return out.take();
}

void read_message(std::string_view input) {
  runtime::WireReader in(input);
  runtime::MessageKind kind{};
  uint64_t number = 0;
  runtime::JobHead head;
  in(kind, number, head);
  runtime::Job job;
  if (!in.ok() || !read_job(in, job)) return;

  // The job that was read can be written, and is read again as the same.
  const std::string bytes = written(job);
  runtime::WireReader again(bytes);
  runtime::Job copy;
  VERIFY(read_job(again, copy) && again.at_end());
  VERIFY(written(copy) == bytes);
  if (runtime::objection_to(job).empty()) VERIFY(runtime::check(runtime::encode_request(job)));
}

void read_of_engine(std::string_view input) {
  runtime::WireReader in(input);
  runtime::JobResult result;
  (void)read_result(in, result);
  runtime::WireReader other(input);
  runtime::Answer answer;
  runtime::EngineCounts counts;
  runtime::Hello hello;
  other(answer, counts, hello);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read_message(input);
  read_of_engine(input);
  return 0;
}
