#include "shim/exec/execute.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "shim/files.h"

namespace shim {
namespace {

// NUL-terminated copies, and the pointers that execve wants.
class Words {
 public:
  void add(std::string word) { words_.push_back(std::move(word)); }
  char** pointers() {
    pointers_.clear();
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

Words arguments_of(const Request& request) {
  Words words;
  Reader from(request.argv.bytes);
  for (uint32_t i = 0; i < request.argv.count; ++i) words.add(std::string(from.text(Tag::kStr)));
  return words;
}

bool is_home(std::string_view name) { return name == "HOME" || name == "TMPDIR"; }

Words environment_of(const Request& request, const char* home) {
  Words words;
  Reader from(request.environment.bytes);
  for (uint32_t i = 0; i < request.environment.count; ++i) {
    const std::string name(from.text(Tag::kStr));
    const std::string value(from.text(Tag::kStr));
    words.add(name + '=' + (home && is_home(name) && value == "/tmp" ? std::string(home) : value));
  }
  return words;
}

int replace_process(const Request& request, const AnswerSpace& space) {
  Words arguments = arguments_of(request);
  Words environment = environment_of(request, space.home);
  if (request.function.empty()) {
    ::syscall(SYS_execveat, space.program_fd, "", arguments.pointers(), environment.pointers(),
              AT_EMPTY_PATH);
  } else {
    const std::string path(request.function);
    ::execve(path.c_str(), arguments.pointers(), environment.pointers());
  }
  return errno;
}

}  // namespace

Request require_program(std::string_view bytes) {
  const auto request = parse_request(bytes);
  const bool is_program = request && (request->mode == Mode::kExec || request->mode == Mode::kWarm);
  if (!is_program) ::_exit(kBrokenRequest);
  return *request;
}

void prepare_scratch(const Request& request, const AnswerSpace& space) {
  std::string failed;
  const int error = write_files(request.files, failed);
  // A scratch that is too small for the job's own files: its limit speaks for itself.
  if (error == ENOSPC || error == EDQUOT) ::_exit(1);
  if (error != 0) space.cannot_execute(error);
  const std::string directory(request.source);
  if (!directory.empty() && ::chdir(directory.c_str()) < 0) space.cannot_execute(errno);
}

char** lasting_environment(const Request& request, const char* home) {
  return (new Words(environment_of(request, home)))->pointers();
}

void execute(const Request& request, const AnswerSpace& space) {
  space.cannot_execute(replace_process(request, space));
  ::_exit(kBrokenRequest);
}

}  // namespace shim
