#include "service/apis/judge0/languages.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "runtime/values/utf8.h"
#include "service/apis/results.h"

namespace service::judge0 {

using nlohmann::ordered_json;

namespace {

// A language with the ids of all its versions: the installed one serves them all.
struct Original {
  std::vector<int64_t> ids;
  std::string_view before, after;  // the version in its name; `after` is empty: there is none
  std::string_view template_name;
  std::vector<std::string> flags = {};
  std::string_view script = {}, file = {};
  bool is_native = false;  // it has the threads that the program starts, and no others
  bool is_project = false;
};

// As the original: what `compile` writes is told if it fails, and `run` is the program.
constexpr std::string_view kProject =
    "rm -rf .compile-output .compile-failed\n"
    "if [ -f compile ] && ! bash ./compile > .compile-output 2>&1 < /dev/null; then\n"
    "  rm -rf .compile-failed; : > .compile-failed\n"
    "  exit 1\n"
    "fi\n"
    "exec bash ./run\n";

// A virtual machine's threads have large stacks (languages/java.json), of which most is never used.
constexpr sys::Bytes kMappedByJava = sys::mebibytes(1024);

const std::vector<Original>& originals_of(Edition edition) {
  static const std::vector<Original> all = {
      {{43}, "Plain Text", "", "bash", {}, "exec cat text.txt", "text.txt"},
      {{44}, "Executable", "", "bash", {}, "chmod +x a.out && exec ./a.out \"$@\"", "a.out", true},
      {{46}, "Bash (", ")", "bash"},
      {{48, 49, 50, 103}, "C (GCC ", ")", "c", {"-std=gnu17", "-O0"}, {}, {}, true},
      {{52, 53, 54}, "C++ (GCC ", ")", "cpp", {"-std=gnu++14", "-O0"}, {}, {}, true},
      {{60, 95, 106, 107}, "Go (", ")", "go"},
      {{62, 91}, "Java (OpenJDK ", ")", "java"},
      {{63, 93, 97, 102}, "JavaScript (Node.js ", ")", "javascript"},
      {{64}, "Lua (", ")", "lua"},
      {{68, 98}, "PHP (", ")", "php"},
      {{71, 92, 100, 109, 113}, "Python (", ")", "python"},
      {{72}, "Ruby (", ")", "ruby"},
      {{73, 108}, "Rust (", ")", "rust-unoptimised", {}, {}, {}, true},
      {{80, 99}, "R (", ")", "r"},
      {{85}, "Perl (", ")", "perl"},
      {{89}, "Multi-file program", "", "bash", {}, kProject, {}, true, true},
      {{105}, "C++ (GCC ", ")", "cpp", {"-std=gnu++17", "-O0"}, {}, {}, true},
  };
  static const std::vector<Original> extra = {
      {{4}, "Java (OpenJDK ", ")", "java"},
      {{10, 25, 33}, "Python for ML (", ")", "python"},
      {{89}, "Multi-file program", "", "bash", {}, kProject, {}, true, true},
  };
  return edition == Edition::kCe ? all : extra;
}

// "5.2.15" of "5.2.15(1)-release" and of "v5.2.15".
std::string_view number_in(std::string_view version) {
  const auto* begin = std::find_if(version.begin(), version.end(), runtime::is_digit);
  const auto* end = std::find_if(begin, version.end(),
                                 [](char each) { return !runtime::is_digit(each) && each != '.'; });
  return version.substr(static_cast<size_t>(begin - version.begin()),
                        static_cast<size_t>(end - begin));
}

std::string name_of(const Original& original, std::string_view version) {
  std::string name(original.before);
  if (original.after.empty()) return name;
  return name.append(version).append(original.after);
}

ordered_json json_of(const Language& language) {
  return {{"id", language.id}, {"name", language.name}};
}

}  // namespace

std::vector<Language> languages_of(std::span<const InstalledRuntime> runtimes, Edition edition,
                                   Counting counting) {
  const bool by_use = counting == Counting::kUsed;
  std::vector<Language> languages;
  for (const Original& original : originals_of(edition)) {
    const auto found =
        std::find_if(runtimes.begin(), runtimes.end(), [&](const InstalledRuntime& runtime) {
          return runtime.name == original.template_name && runtime.available;
        });
    if (found == runtimes.end()) continue;
    for (const int64_t id : original.ids) {
      languages.push_back(
          {.id = id,
           .name = name_of(original, number_in(found->version)),
           .template_name = found->name,
           .is_compiled = found->how == "compiled",
           .flags = original.flags,
           .has_stack = by_use || original.is_native,
           .least_memory = by_use || found->name != "java" ? sys::Bytes{0} : kMappedByJava,
           .script = original.script,
           .file = original.file,
           .is_project = original.is_project});
    }
  }
  std::ranges::sort(languages, {}, &Language::id);
  return languages;
}

const Language* find_language(const std::vector<Language>& languages, int64_t id) {
  const auto found = std::ranges::find(languages, id, &Language::id);
  return found == languages.end() ? nullptr : &*found;
}

Response languages_response(const std::vector<Language>& languages, Archived archived) {
  ordered_json list = ordered_json::array();
  for (const Language& language : languages) {
    ordered_json one = json_of(language);
    if (archived == Archived::kTold) one["is_archived"] = false;
    list.push_back(std::move(one));
  }
  return {.body = line_of(list)};
}

Response language_response(const std::vector<Language>& languages, std::string_view id) {
  int64_t number = 0;
  const char* end = id.data() + id.size();
  const auto [at, error] = std::from_chars(id.data(), end, number);
  const bool is_number = error == std::errc{} && at == end;
  const Language* language = is_number ? find_language(languages, number) : nullptr;
  if (!language)
    return {.status = 404, .body = line_of({{"error", "there is no language of this id here"}})};
  ordered_json one = json_of(*language);
  one["is_archived"] = false;
  // The commands are our own affair.
  for (const char* name : {"source_file", "compile_cmd", "run_cmd"}) one[name] = nullptr;
  return {.body = line_of(one)};
}

}  // namespace service::judge0
