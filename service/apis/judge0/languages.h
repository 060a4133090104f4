#pragma once
// The languages of Judge0's editions that this host's runtimes can run, under the original's ids,
// which its clients have in their own code. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/units.h"
#include "service/apis/installed_runtimes.h"
#include "service/http/request.h"

namespace service::judge0 {

struct Language {
  int64_t id = 0;
  std::string name = {};           // with the installed version: "C (GCC 12.2.0)"
  std::string template_name = {};  // ours
  bool is_compiled = false;
  // The options that the original's compiler is without; those of a client come after them.
  std::vector<std::string> flags = {};
  bool has_stack = true;      // the stack that clients ask for
  sys::Bytes least_memory{};  // it cannot start with less
  // A program of ours runs in place of the client's, which it finds in `file`. Empty: none does.
  std::string_view script = {}, file = {};
  bool is_project = false;  // the script runs what is in the submission's files; there is no source
};

// Files of the script of a project: what its own `compile` has written, and that it has failed.
inline constexpr std::string_view kCompileOutput = ".compile-output",
                                  kCompileFailed = ".compile-failed";

// Where no cgroup counts memory, a thread's whole stack counts, used or not, as all that it maps.
enum class Counting : uint8_t { kUsed, kMapped };

// The original has two, each with languages of its own.
enum class Edition : uint8_t { kCe, kExtraCe };

// In the order of their ids.
std::vector<Language> languages_of(std::span<const InstalledRuntime> runtimes, Edition edition,
                                   Counting counting);

// Null: there is none of this id.
const Language* find_language(const std::vector<Language>& languages, int64_t id);

enum class Archived : uint8_t { kUntold, kTold };
Response languages_response(const std::vector<Language>& languages, Archived archived);
// 404: there is no such language. `id` is what a client has written.
Response language_response(const std::vector<Language>& languages, std::string_view id);

}  // namespace service::judge0
