#pragma once
// The fields of a job that have rules of their own: names, arguments, environment, files, layers.
// Internal to job_json. All leave the reason, and the path below the field, with the reader.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/job/input_path.h"
#include "runtime/json/job/job_fields.h"
#include "runtime/json/json_reader.h"

namespace runtime {

inline constexpr size_t kMaxCompilerFlags = 64;

// Rules of single texts: an id is not empty, a template and a function have names. Empty: it fits.
std::string objection_to_text(const Field& field, const std::string& text);
std::string objection_to_length(const Field& field, std::string_view text);
inline constexpr const char* kNulInside = "a NUL inside";

// "sha256:HEX"
bool read_digest(JsonReader& in, std::string& digest);
// A string, or {"b64": ".."}: bytes that need not be text.
bool read_bytes(JsonReader& in, const Field& field, std::string& bytes);
bool read_globs(JsonReader& in, const Field& field, std::vector<std::string>& globs);
bool read_argv(JsonReader& in, const Field& field, std::vector<std::string>& argv);
bool read_env(JsonReader& in, const Field& field,
              std::vector<std::pair<std::string, std::string>>& env);
bool read_files(JsonReader& in, std::vector<InputFile>& files);
// A string into `text`, or {"blob": "sha256:.."} into `blob`.
bool read_source(JsonReader& in, const Field& field, std::string& text, std::string& blob);
// Further sources of a program. They become its files when all of its fields are known.
bool read_sources(JsonReader& in, const Field& field, std::vector<InputFile>& sources);
bool read_flags(JsonReader& in, const Field& field, std::vector<std::string>& flags);
bool read_require(JsonReader& in, const Field& field, std::vector<std::string>& require);

// A folder stands right in front of what lies in it, so that neighbours tell of all.
struct FolderFirst {
  bool operator()(std::string_view one, std::string_view other) const;
};
using Paths = std::set<std::string_view, FolderFirst>;  // as long as their files live
// The first of `more` that cannot lie beside `paths`, which can lie beside each other: one is the
// folder of the other. Null: all can.
Paths paths_of(const std::vector<InputFile>& files);
const InputFile* misplaced(const Paths& paths, const std::vector<InputFile>& more);

// The reason why no file can have this path; null: one can.
const char* objection_to_file(std::string_view path);
struct Misfit {
  std::string path;
  const char* why;
};
// One file that is the folder of another.
std::optional<Misfit> misfit_among(const std::vector<InputFile>& files);
bool is_name_of_variable(std::string_view name);
// Puts `fresh` over `files`; one takes the place of the file of its path.
void merge_files(std::vector<InputFile>& files, std::vector<InputFile>& fresh);

// Makes files of sources, and notes their names. Or says of the first that cannot lie beside
// `files` why; then nothing is changed.
std::optional<Misfit> take_sources(std::vector<InputFile> sources, std::vector<InputFile>& files,
                                   std::vector<std::string>& names);

// A name out of a caller's JSON, bounded and without control characters, for an error.
std::string printable(std::string_view name);

}  // namespace runtime
