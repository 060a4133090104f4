#pragma once
// The daemon's side of the value format (shim/value_format.h): everything that reads bytes a
// program may have written, and everything that writes bytes for the child. Hostile input is the
// normal case: lengths, depth, digits and UTF-8 are checked before anything is believed, and every
// function here is total and linear (differences: n log n) in its input. Pure; runs on the
// shard's thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/job/outcome.h"
#include "sandbox/sys/result.h"
#include "shim/value_format.h"

namespace runtime {

struct Job;
struct InputFile;

// One complete, well-formed value and nothing behind it.
sys::Result<void> check(std::string_view value);

// The value as JSON text, in the tagged forms of docs/jobs.md. With `arrays_as_lists` an ndarray is
// a plain nested list. A malformed value (check() says so) appends `null`.
// If `parts` is given, long bytes are put there, as views of `value`, in place of base64
// (values/parts.h).
void append_json(std::string_view value, bool arrays_as_lists, std::string& out,
                 std::vector<std::string_view>* parts = nullptr);
// The number of bytes of the value that those are.
size_t bytes_in_parts(std::string_view value);

// What counts as a difference, beyond types, items and numbers. NaN equals NaN, 1 differs from 1.0,
// and the order of a dict does not count.
struct Sameness {
  bool signs_of_zero = false;    // -0.0 differs from 0.0
  bool arrays_as_lists = false;  // an ndarray is the nested list of its items
};

// The first place at which two values differ.
struct ValueDifference {
  std::string path;  // `[0][3][1]`, `["key"]`; empty at the root
  // The items that stand there, as views of the values; none: that side has nothing there, or one
  // of the two is malformed.
  std::optional<std::string_view> a, b;
};

// None when they are the same.
std::optional<ValueDifference> difference(std::string_view a, std::string_view b, Sameness how);
// Its path alone, where the sign of a zero does not count.
std::optional<std::string> first_difference(std::string_view a, std::string_view b);

// Decodes the answer region. An answer that is malformed or does not fit the mode is kGarbled.
Testimony decode_answer(shim::AnswerKind kind, std::string_view payload, bool call_mode);
// The same of a step of a session that calls no function.
Testimony decode_answer_of_step(shim::AnswerKind kind, std::string_view payload);

// The request of shim/value_format.h. Text that is not UTF-8 is repaired: a request is always
// well-formed. `job.argv` holds the arguments; the program's name is put in front of them. `more`
// comes behind the job's own environment.
using Environment = std::vector<std::pair<std::string, std::string>>;
std::string encode_request(const Job& job, const Environment& more = {});

// The files that are placed before a run: a file of the run replaces the job's of that name.
std::vector<const InputFile*> files_of_run(const Job& job);

// The command of a runtime's job: a program of the image, or of the job where `program` is empty.
struct Command {
  std::string program;
  std::string directory;                                 // to run in; empty: the scratch
  std::vector<std::string> argv;                         // the first word included
  std::vector<std::pair<std::string, std::string>> env;  // all of it
  std::vector<const InputFile*> files;
  bool warm = false;  // a zygote that is this interpreter may run it itself
};
std::string encode_request(const Command& command);

// Appends values to one string. Containers take their count up front, or are patched at the end.
class Writer {
 public:
  void none() { tag(shim::Tag::kNone); }
  void boolean(bool value) { tag(value ? shim::Tag::kTrue : shim::Tag::kFalse); }
  void integer(int64_t value);
  void big_integer(std::string_view digits);  // "-" allowed first; canonical decimal
  void number(double value);
  void complex(double real, double imaginary);
  void text(std::string_view utf8) { counted(shim::Tag::kStr, utf8); }
  void bytes(std::string_view raw) { counted(shim::Tag::kBytes, raw); }

  // A list, tuple, set, frozenset (items) or dict (pairs) of `count`; the items follow.
  void container(shim::Tag kind, uint32_t count);
  // The same when the count is not known yet: `close` what `open` returned.
  size_t open(shim::Tag kind);
  void close(size_t mark, uint32_t count);
  // The dtype (text), the shape (list) and the nested list follow.
  void array() { tag(shim::Tag::kArray); }

  // Raw encoded bytes: for reordering the items of a set, and for values encoded elsewhere.
  void raw(std::string_view encoded) { out_.append(encoded); }
  std::string_view since(size_t position) const { return std::string_view(out_).substr(position); }
  void truncate(size_t position) { out_.resize(position); }
  size_t size() const { return out_.size(); }
  void reserve(size_t size);
  std::string take() { return std::move(out_); }

 private:
  void tag(shim::Tag value) { out_.push_back(static_cast<char>(value)); }
  void counted(shim::Tag kind, std::string_view content);
  std::string out_;
};

}  // namespace runtime
