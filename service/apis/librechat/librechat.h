#pragma once
// The POST /exec of LibreChat's code API in terms of ours: its request becomes a job that sees the
// files it names, and our result its answer, with an id for each file that the program has left.
// Pure but for the store of files; the bytes are untrusted.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "service/apis/file_store.h"
#include "service/http/request.h"

namespace service::librechat {

// A file that is kept: its session and its id find it.
struct FileRef {
  std::string session, id, name;
};

struct Execution {
  runtime::Job job;
  // What the answer needs of the request.
  struct Wish {
    std::string source;             // some languages have it in a file beside the program's
    std::vector<std::string> lost;  // files that were named and are not kept any more
    struct Given {
      FileRef ref;
      StoredFilePtr file;
    };
    std::map<std::string, Given> given;  // the others, by their names
    uint64_t given_bytes = 0;            // of their contents
  } wish;
};

// Null: there is no such file.
using Find = std::function<StoredFilePtr(const FileRef&)>;
// Whether there is room for so many bytes of files, all of a request's together; asked before they
// are copied.
using Hold = std::function<bool(uint64_t bytes)>;
// The id of a file that is kept from now on.
using Keep = std::function<sys::Result<std::string>(const std::string& name, std::string content)>;

std::variant<Execution, Response> read_exec(std::string_view body, const Find& find,
                                            const Hold& hold, const runtime::JobDefaults& defaults);

// Of one run; the others are lost, and its stderr says so. A store is shared by many.
inline constexpr size_t kMostKept = 100;

// Any thread. `session`: that `keep` keeps files for.
Response exec_response(const runtime::JobResult& result, const Execution::Wish& wish,
                       const std::string& session, const Keep& keep);

Response upload_response(const std::string& session, const std::string& id, std::string_view name);

inline constexpr const char* kFullDetail = "full";
// The files of a session, in the detail asked for: "full" (the original's usual one), or
// "normalized", as /exec tells them.
Response files_response(const std::vector<FileRef>& files, std::string_view detail);

// {"error"}
Response refusal(int status, std::string_view why);
// The one that its client tries again.
Response unavailable(std::string_view why);

// The parts of "SESSION/ID"; the id is empty if it is none.
FileRef file_at(std::string_view path);

}  // namespace service::librechat
