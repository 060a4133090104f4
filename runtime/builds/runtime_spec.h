#pragma once
// RuntimeSpec: how programs of a language are compiled and run, as data. One JSON file each, in
// `languages/` of the source tree; adding a language is adding a file. Its fields are described in
// languages/README.md. A value; read once, at the start.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/job/job.h"
#include "sandbox/policy.h"

namespace runtime {

struct RuntimeSpec {
  std::string name, title;
  std::vector<std::string> aliases;
  std::vector<std::string> extensions;  // of source files, without the dot
  // The compiler is called with further sources that end like these; other files lie beside them.
  std::vector<std::string> source_extensions;
  std::string package;               // what to install where the tools are missing
  std::vector<std::string> version;  // a command that prints it; may be empty
  std::string file;                  // what the source is called
  bool finds_class = false;  // in a Java source, and so the names of the file and of the class
  bool warm = false;  // its interpreter starts once, in the template, where the host allows it
  bool jit = false;   // it makes machine code at run time: see FilterVariant::makes_code
  std::vector<std::string> compile;    // empty: nothing is compiled
  std::vector<std::string> artefacts;  // globs: what of the compiler's directory is kept
  // A first word "./NAME" is the artefact of that name. Empty: the job's source names the program.
  std::vector<std::string> run;
  std::vector<std::pair<std::string, std::string>> env;
  sandbox::Profile profile = sandbox::Profile::kDefault;  // of a job that names none
  // System calls that the language itself makes when it starts, forbidden or not, and how often: so
  // many refusals are not the program's doing.
  std::vector<std::pair<std::string, uint32_t>> forgiven;
  Limits compile_limits;
  std::string digest;      // of what the file says of it
  std::string variant_of;  // the runtime whose other commands it has; empty: none
  // The directory of a package (runtime/json/package_runtime.h), which programs see at its own
  // path, and what it says of itself. Its scripts are called with the names of files. Empty: the
  // runtime is no package.
  std::string folder, language, release;

  bool compiled() const { return !compile.empty(); }
  bool takes_sources() const;  // more than one: see compile_words()
  bool takes_flags() const;    // of a job, for its compiler
  bool runs_artefact() const { return !run.empty() && run.front().starts_with("./"); }
  // The path of the artefact that becomes the program; empty: none does.
  std::string program() const { return runs_artefact() ? run.front().substr(2) : ""; }
  bool goes_by(std::string_view word) const;  // the name or an alias
};

// The directories that are searched for programs, on the host and in an image that says nothing
// else.
inline constexpr std::string_view kPath = "/usr/local/bin:/usr/bin:/bin";

// The absolute path of a command word as a program below `root` would find it with PATH `path`;
// nothing when it is not there. Links are followed inside of `root`.
std::optional<std::string> find_program(const std::string& word, const std::string& root = "",
                                        std::string_view path = kPath);

// The programs of a runtime, found on an image.
struct Toolchain {
  std::string run, compile;  // absolute paths; empty where nothing of the image is run
  std::string missing;       // the word that was not found; empty: the runtime is offered
  std::string stamp;         // changes when a program does, whatever links lead to it
};
// Below `root`, which is empty for the host's own.
Toolchain find_toolchain(const RuntimeSpec& spec, const std::string& root = "",
                         std::string_view path = kPath);

// Changes when the host's package manager installs, upgrades or removes something: a compiler's
// headers and libraries are packages of their own.
std::string stamp_of_packages();

// The name of a job's source, and its class where the runtime finds that.
struct SourceNames {
  std::string file, main_class;
};
SourceNames names_of_source(const RuntimeSpec& spec, const Job& job);

// The words with {memory_mb}, {file} and {class} replaced.
std::vector<std::string> fill_in(const std::vector<std::string>& words, const Limits& limits,
                                 const SourceNames& names);

// The command that compiles `file` and, where the runtime has the word for it, `sources`: paths of
// files that lie beside it. {sources} stands for all of them that have an extension of the
// language, {sources_beside} for those in the same folder; {flags} for what the job gives the
// compiler.
std::vector<std::string> compile_words(const RuntimeSpec& spec, const Limits& limits,
                                       const std::string& file,
                                       const std::vector<std::string>& sources,
                                       const std::vector<std::string>& flags = {});

}  // namespace runtime
