#include "tools/cli/suites/suite_job.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "tools/cli/judge/package/folder.h"
#include "tools/cli/suites/harness.h"

namespace cli {
namespace {

constexpr size_t kMostFiles = 1000;
constexpr sys::Bytes kLargestFile = sys::mebibytes(16);
constexpr sys::Milliseconds kWallBeyondCpu{2000};
// The tests stop a moment before their cell is ended, and then say which of them did not.
constexpr sys::Milliseconds kTestsLonger{300};

sys::Result<runtime::InputFile> read_file(const Folder& folder, const std::string& path) {
  return runtime::InputFile{path, TRY(folder.read(path, kLargestFile))};
}

std::vector<std::string> paths_of(const std::vector<runtime::InputFile>& files) {
  std::vector<std::string> paths;
  for (const runtime::InputFile& file : files) paths.push_back(file.path);
  return paths;
}

bool is_compiled(const std::string& path) {
  return path.starts_with("__pycache__/") || path.find("/__pycache__/") != std::string::npos;
}

}  // namespace

sys::Result<std::vector<runtime::InputFile>> read_suite_files(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return sys::Error::from_errno(path);
  const std::string absolute = real.get();
  const size_t slash = absolute.rfind('/');
  const Folder parent = TRY(Folder::open(absolute.substr(0, std::max<size_t>(slash, 1))));
  const std::string name = absolute.substr(slash + 1);
  std::vector<runtime::InputFile> files;
  if (TRY(parent.kind_of(name)) != Folder::Kind::kFolder) {
    files.push_back(TRY(read_file(parent, name)));
    return files;
  }
  const Folder folder = TRY(Folder::open(absolute));
  for (const std::string& below : TRY(folder.files_below("", kMostFiles))) {
    if (!is_compiled(below)) files.push_back(TRY(read_file(folder, below)));
  }
  return files;
}

runtime::Job suite_job(const TestOptions& options, const std::string& template_name,
                       std::vector<runtime::InputFile> program,
                       std::vector<runtime::InputFile> tests) {
  runtime::Job job;
  job.id = "suite";
  job.template_name = template_name;
  job.source = program_side();
  job.limits.cpu = options.timeout;
  job.limits.wall = options.timeout + kWallBeyondCpu;
  job.limits.memory = options.memory;
  job.policy.on_violation = sandbox::OnViolation::kKill;
  runtime::Checker& judge = job.interactor.emplace();
  judge.template_name = "python";
  judge.protocol = runtime::Checker::Protocol::kIcpc;
  judge.keeps_feedback = true;
  const sys::Milliseconds cpu = std::max(judge.limits.cpu, job.limits.cpu);
  judge.source = tests_side({.program = paths_of(program),
                             .tests = paths_of(tests),
                             .framework = options.framework,
                             .strict = options.strict,
                             .wall = job.limits.wall + kTestsLonger,
                             .cpu = cpu * 95 / 100});
  job.files = std::move(program);
  judge.files = std::move(tests);
  job.tests.emplace_back().name = "tests";
  return job;
}

}  // namespace cli
