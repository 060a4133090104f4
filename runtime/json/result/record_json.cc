#include "runtime/json/result/record_json.h"

#include <utility>

#include "images/sha256.h"
#include "runtime/json/members.h"
#include "runtime/values/json_text.h"

namespace runtime {

namespace {

// Members of an object that is under way. Texts that are empty are left out, but for those that are
// always there.
void begin_member(std::string_view name, std::string& out) {
  if (out.back() != '{') out += ',';
  append_json_string(name, out);
  out += ':';
}

void constant_member(std::string_view name, std::string_view value, std::string& out) {
  begin_member(name, out);
  append_json_string(value, out);
}

void member(std::string_view name, std::string_view value, std::string& out) {
  if (!value.empty()) constant_member(name, value, out);
}

void append_template(const Origin& origin, std::string& out) {
  begin_member("template", out);
  out += '{';
  constant_member("name", origin.template_name, out);
  constant_member("id", origin.identity, out);
  member("interpreter", origin.interpreter, out);
  member("interpreter_digest", origin.interpreter_digest, out);
  member("setup", origin.setup, out);
  member("image", origin.image, out);
  begin_member("preloads", out);
  out += '[';
  for (const std::string& module : origin.preloads) {
    if (out.back() != '[') out += ',';
    append_json_string(module, out);
  }
  out += "]}";
}

void append_origin(const Origin& origin, std::string& out) {
  member("zygo", origin.zygo, out);
  member("kernel", origin.kernel, out);
  member("machine", origin.machine, out);
  append_template(origin, out);
  begin_member("seed", out);
  append_json_integer(origin.seed, out);
}

void append_digests(const JobDigests& digests, std::string& out) {
  begin_member("digests", out);
  out += '{';
  member("job", digests.job, out);
  member("source", digests.source, out);
  member("stdin", digests.stdin_bytes, out);
  member("calls", digests.calls, out);
  if (!digests.files.empty()) {
    begin_member("files", out);
    out += '{';
    for (const auto& [path, digest] : digests.files) member(path, digest, out);
    out += '}';
  }
  out += '}';
}

bool read_digest(JsonReader& in, std::string& digest) {
  if (!read_json(in, digest)) return false;
  return images::is_sha256(digest) || in.fail("expected sha256: and 64 hexadecimal digits");
}

template <std::string JobDigests::*M>
constexpr Member<JobDigests> digest(std::string_view name, Presence presence) {
  return {name, presence,
          [](JsonReader& in, JobDigests& into) { return read_digest(in, into.*M); }};
}

bool read_files(JsonReader& in, JobDigests& into) {
  if (in.peek() != JsonReader::Type::kObject) return in.expected("an object");
  std::string path;
  in.open_object();
  while (in.next_key(into.files.empty(), path)) {
    into.files.emplace_back(path, "");
    if (!read_digest(in, into.files.back().second)) return in.at_key(path);
  }
  return in.ok();
}

bool read_json(JsonReader& in, JobDigests& digests) {
  constexpr Member<JobDigests> kDigests[] = {
      digest<&JobDigests::job>("job", Presence::kAlways),
      digest<&JobDigests::source>("source", Presence::kAlways),
      digest<&JobDigests::stdin_bytes>("stdin", Presence::kSometimes),
      digest<&JobDigests::calls>("calls", Presence::kSometimes),
      {"files", Presence::kSometimes, read_files},
  };
  return read_members<JobDigests>(in, kDigests, digests);
}

bool read_template(JsonReader& in, Origin& origin) {
  constexpr Member<Origin> kTemplate[] = {
      always<Origin, &Origin::template_name>("name"),
      always<Origin, &Origin::identity>("id"),
      sometimes<Origin, &Origin::interpreter>("interpreter"),
      sometimes<Origin, &Origin::interpreter_digest>("interpreter_digest"),
      sometimes<Origin, &Origin::setup>("setup"),
      sometimes<Origin, &Origin::image>("image"),
      {"preloads", Presence::kAlways,
       [](JsonReader& reader, Origin& into) { return read_list(reader, into.preloads); }},
  };
  return read_members<Origin>(in, kTemplate, origin);
}

struct SaidRecord : Origin {
  RecordedJob job;
  bool has_template = false;
};

constexpr Member<SaidRecord> kRecord[] = {
    sometimes<SaidRecord, &SaidRecord::zygo>("zygo"),
    sometimes<SaidRecord, &SaidRecord::kernel>("kernel"),
    sometimes<SaidRecord, &SaidRecord::machine>("machine"),
    {"template", Presence::kSometimes,
     [](JsonReader& in, SaidRecord& into) {
       into.has_template = true;
       return read_template(in, into);
     }},
    sometimes<SaidRecord, &SaidRecord::seed>("seed"),
    {"digests", Presence::kAlways,
     [](JsonReader& in, SaidRecord& into) { return read_json(in, into.job.digests); }},
    {"job", Presence::kAlways,
     [](JsonReader& in, SaidRecord& into) {
       if (in.peek() != JsonReader::Type::kObject) return in.expected("an object");
       return in.skip(&into.job.json);
     }},
};

}  // namespace

void append_record(const JobRecord& record, std::string& out) {
  out += '{';
  if (record.origin) append_origin(*record.origin, out);
  append_digests(record.job->digests, out);
  begin_member("job", out);
  out += record.job->json;
  out += '}';
}

size_t most_bytes_of(const JobRecord& record) {
  constexpr size_t kMostOfTheRest = 16384, kMostOfAFile = 256;
  size_t bytes = kMostOfTheRest + record.job->json.size();
  for (const auto& [path, digest] : record.job->digests.files)
    bytes += kMostOfAFile + 6 * path.size();
  return bytes;
}

bool read_json(JsonReader& in, JobRecord& record) {
  SaidRecord said;
  if (!read_members<SaidRecord>(in, kRecord, said)) return false;
  record.job = std::make_shared<const RecordedJob>(std::move(said.job));
  record.origin = nullptr;
  const bool says_origin =
      said.has_template || !said.zygo.empty() || !said.kernel.empty() || !said.machine.empty();
  if (says_origin) record.origin = std::make_shared<const Origin>(static_cast<const Origin&>(said));
  return true;
}

}  // namespace runtime
