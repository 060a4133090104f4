#include <bit>
#include <cstring>
#include <set>

#include "runtime/job/job.h"
#include "runtime/values/python_coding.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "sandbox/sys/huge_pages.h"

namespace runtime {

static_assert(std::endian::native == std::endian::little, "the value format is little-endian");

namespace {

constexpr size_t kLong = size_t{4} << 20;

template <typename T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}
}  // namespace

void Writer::integer(int64_t value) {
  if (value >= 0 && value <= 255) {
    const char both[] = {static_cast<char>(shim::Tag::kSmall), static_cast<char>(value)};
    out_.append(both, sizeof both);
    return;
  }
  tag(shim::Tag::kInt);
  append_raw(out_, value);
}

void Writer::big_integer(std::string_view digits) { counted(shim::Tag::kBigInt, digits); }

void Writer::number(double value) {
  tag(shim::Tag::kFloat);
  append_raw(out_, value);
}

void Writer::complex(double real, double imaginary) {
  tag(shim::Tag::kComplex);
  append_raw(out_, real);
  append_raw(out_, imaginary);
}

void Writer::container(shim::Tag kind, uint32_t count) {
  tag(kind);
  append_raw(out_, count);
}

size_t Writer::open(shim::Tag kind) {
  container(kind, 0);
  return out_.size() - sizeof(uint32_t);
}

void Writer::close(size_t mark, uint32_t count) {
  std::memcpy(out_.data() + mark, &count, sizeof count);
}

void Writer::counted(shim::Tag kind, std::string_view content) {
  VERIFY(content.size() <= UINT32_MAX);
  container(kind, static_cast<uint32_t>(content.size()));
  if (content.size() >= kLong) reserve(out_.size() + content.size());
  out_.append(content);
}

void Writer::reserve(size_t size) {
  size >= kLong ? sys::reserve_huge(out_, size) : out_.reserve(size);
}

// ---- The request

namespace {

constexpr std::string_view kProgramName = "main.py";

void put_text(Writer& writer, std::string_view text) {
  if (is_utf8(text)) return writer.text(text);
  writer.text(repaired_utf8(text));
}

void put_environment(Writer& writer, const Environment& env) {
  writer.container(shim::Tag::kDict, static_cast<uint32_t>(env.size()));
  for (const auto& [name, value] : env) {
    put_text(writer, name);
    put_text(writer, value);
  }
}

void put_files(Writer& writer, const std::vector<const InputFile*>& files) {
  writer.container(shim::Tag::kList, static_cast<uint32_t>(files.size()));
  for (const InputFile* file : files) {
    writer.container(shim::Tag::kList, 3);
    put_text(writer, file->path);
    writer.bytes(file->content);
    file->link ? writer.none() : writer.boolean(file->executable);
  }
}

// A file's mark of UTF-8 is no part of its text.
void put_source(Writer& writer, const Job& job) {
  const std::string_view source = job.source;
  const std::string_view coding = job.source_has_coding ? python_coding(source) : "";
  if (coding.empty())
    return put_text(writer, source.substr(source.starts_with(kByteOrderMark) ? 3 : 0));
  writer.container(shim::Tag::kList, 2);
  writer.bytes(source);
  writer.text(coding);
}

size_t size_of(const std::vector<const InputFile*>& files) {
  size_t size = 256;
  for (const InputFile* file : files) size += 32 + file->path.size() + file->content.size();
  return size;
}

}  // namespace

std::vector<const InputFile*> files_of_run(const Job& job) {
  std::set<std::string_view> replaced;
  for (const InputFile& file : job.run_files) replaced.insert(file.path);
  std::vector<const InputFile*> files;
  for (const InputFile& file : job.files) {
    if (!replaced.contains(file.path)) files.push_back(&file);
  }
  for (const InputFile& file : job.run_files) files.push_back(&file);
  return files;
}

static shim::Mode mode_of(const Job& job) {
  if (!job.is_step()) return job.mode;
  if (job.shell) return shim::Mode::kStepShell;
  return job.mode == shim::Mode::kCall ? shim::Mode::kStepCall : shim::Mode::kStep;
}

std::string encode_request(const Job& job, const Environment& more) {
  const std::vector<const InputFile*> files = files_of_run(job);
  Writer writer;
  writer.reserve(size_of(files) + job.source.size() + job.calls.size());
  writer.container(shim::Tag::kList, job.fixed.on ? 9 : 8);
  put_source(writer, job);
  writer.integer(static_cast<int64_t>(mode_of(job)));
  put_text(writer, job.func);
  if (job.calls.empty()) {
    writer.container(shim::Tag::kList, 0);
  } else {
    writer.raw(job.calls);
  }
  writer.boolean(job.array);
  writer.container(shim::Tag::kList, static_cast<uint32_t>(job.argv.size() + 1));
  writer.text(kProgramName);
  for (const std::string& argument : job.argv) put_text(writer, argument);
  Environment env = job.env;
  env.insert(env.end(), more.begin(), more.end());
  put_environment(writer, env);
  put_files(writer, files);
  if (job.fixed.on) {
    writer.container(shim::Tag::kList, 3);
    for (const int64_t each : {job.fixed.seed, job.fixed.start, job.fixed.clock_step_us})
      writer.integer(each);
  }
  return writer.take();
}

std::string encode_request(const Command& command) {
  Writer writer;
  writer.reserve(size_of(command.files));
  writer.container(shim::Tag::kList, 8);
  put_text(writer, command.directory);
  writer.integer(static_cast<int64_t>(command.warm ? shim::Mode::kWarm : shim::Mode::kExec));
  put_text(writer, command.program);
  writer.container(shim::Tag::kList, 0);
  writer.boolean(false);
  writer.container(shim::Tag::kList, static_cast<uint32_t>(command.argv.size()));
  for (const std::string& word : command.argv) put_text(writer, word);
  put_environment(writer, command.env);
  put_files(writer, command.files);
  return writer.take();
}

}  // namespace runtime
