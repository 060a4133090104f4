#include "runtime/json/job/job_record.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "images/sha256.h"
#include "runtime/json/job/job_json.h"
#include "runtime/json/job/job_writer.h"

namespace runtime {

namespace {

std::string digest_of(std::string_view bytes) { return "sha256:" + images::sha256_of(bytes); }

std::string digest_or_none(std::string_view bytes) { return bytes.empty() ? "" : digest_of(bytes); }

// A blob's name is its digest; an empty directory has nothing to digest.
std::string digest_of(const InputFile& file) {
  if (!file.blob.empty()) return file.blob;
  return file.path.ends_with('/') ? "" : digest_of(file.content);
}

JobDigests parts_of(const JobSpec& job) {
  JobDigests parts;
  parts.source = job.source_blob.empty() ? digest_of(job.source) : job.source_blob;
  parts.stdin_bytes = digest_or_none(job.stdin_bytes);
  parts.calls = digest_or_none(calls_json(job));
  for (const InputFile& file : job.files) {
    if (std::string digest = digest_of(file); !digest.empty())
      parts.files.emplace_back(file.path, std::move(digest));
  }
  std::ranges::sort(parts.files);
  return parts;
}

std::string sentence(const std::string& part, const std::string& said, const std::string& is) {
  if (said.empty()) return "digests." + part + ": required, by job." + part;
  if (is.empty()) return "digests." + part + ": expected none, by job." + part;
  return "digests." + part + ": " + said + " is not the digest of job." + part + ", which is " + is;
}

std::optional<std::string> objection_to_files(const JobDigests& said, const JobDigests& is) {
  for (const auto& [path, digest] : is.files) {
    const auto found =
        std::ranges::find(said.files, path, &std::pair<std::string, std::string>::first);
    const std::string other = found == said.files.end() ? "" : found->second;
    if (other != digest) return sentence("files[\"" + path + "\"]", other, digest);
  }
  if (said.files.size() == is.files.size()) return std::nullopt;
  return "digests.files: has more files than job.files";
}

}  // namespace

sys::Result<RecordedJob> record_of(const JobSpec& job) {
  RecordedJob made;
  made.json = TRY(job_line(job, Usual::kWritten));
  if (made.json.size() > kMaxJobBytes)
    return sys::Error::because("longer than " + std::to_string(kMaxJobBytes >> 20) +
                               " MiB as JSON");
  made.digests = parts_of(job);
  made.digests.job = digest_of(made.json);
  return made;
}

sys::Result<void> keep_record(Job& job) {
  if (!job.record) return {};
  sys::Result<RecordedJob> made = record_of(job);
  if (!made) return sys::Error::because("record: " + made.error().text());
  job.recorded = std::make_shared<const RecordedJob>(std::move(made).value());
  return {};
}

// Another program may have written the record anew, with other escapes; another version of zygo may
// have other fields. One of the two texts is as it was.
std::optional<std::string> objection_to_record(const RecordedJob& said, const JobSpec& job) {
  const JobDigests is = parts_of(job);
  if (said.digests.source != is.source) return sentence("source", said.digests.source, is.source);
  if (said.digests.stdin_bytes != is.stdin_bytes)
    return sentence("stdin", said.digests.stdin_bytes, is.stdin_bytes);
  if (said.digests.calls != is.calls) return sentence("calls", said.digests.calls, is.calls);
  if (auto wrong = objection_to_files(said.digests, is)) return wrong;
  const std::string as_said = digest_of(said.json);
  if (said.digests.job == as_said) return std::nullopt;
  const sys::Result<RecordedJob> again = record_of(job);
  if (again.ok() && again->digests.job == said.digests.job) return std::nullopt;
  return "digests.job: " + said.digests.job + " is not the digest of job, which is " + as_said;
}

}  // namespace runtime
