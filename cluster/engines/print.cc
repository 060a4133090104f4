#include "cluster/engines/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/engines/printed_words.h"
#include "runtime/values/utf8.h"

namespace cluster {

namespace {

std::string slurm_time(std::chrono::seconds time) {
  const auto all = time.count();
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

uint64_t megabytes(sys::Bytes memory) { return std::max<uint64_t>(1, memory.count >> 20); }

// The script is the batch step, so the signal goes to it (B:), and `exec` makes the pilot be it.
std::string print_slurm(const PrintOptions& options) {
  std::string text =
      "#!/bin/sh\n"
      "# Pilots of zygo as a job array: sbatch FILE. scancel JOB ends them; they drain first.\n"
      "# A partition, an account or a constraint go into lines like these.\n"
      "#SBATCH --job-name=zygo-pilot\n";
  text += fmt::format("#SBATCH --array=1-{}\n", options.pilots);
  text += "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n";
  text += fmt::format("#SBATCH --cpus-per-task={}\n", options.cpus);
  text += fmt::format("#SBATCH --mem={}M\n", megabytes(options.memory));
  if (options.time) text += fmt::format("#SBATCH --time={}\n", slurm_time(*options.time));
  text += fmt::format("#SBATCH --signal=B:TERM@{}\n", options.drain_before.count());
  text +=
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output=zygo-pilot-%A_%a.log\n\n";
  std::vector<std::string> words = pilot_words(options, files_of(options));
  words.insert(words.begin(), {"exec", options.program});
  return text + shell_line(words) + "\n";
}

// In the newer syntax all arguments stand in double quotes, and single quotes hold one together.
std::string condor_arguments(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_of(" \t'") == word.npos;
    if (!all.empty()) all += ' ';
    if (!is_plain) all += '\'';
    for (const char c : word) {
      if (c == '$') {
        all += "$(DOLLAR)";
      } else {
        all += c;
        if (c == '"' || c == '\'') all += c;
      }
    }
    if (!is_plain) all += '\'';
  }
  return "\"" + all + "\"";
}

std::string print_condor(const PrintOptions& options) {
  std::vector<std::string> words = pilot_words(options, files_in("", options));
  std::string executable = options.program;
  if (executable.find('/') == executable.npos) {
    words.insert(words.begin(), executable);
    executable = "/usr/bin/env";
  }
  std::string text =
      "# Pilots of zygo: condor_submit FILE. condor_rm CLUSTER ends them; they drain first.\n"
      "# The file of the token goes along into the scratch directory of each job, which is the\n"
      "# user's alone.\n"
      "universe = vanilla\n";
  text += fmt::format("executable = {}\n", executable);
  text += "transfer_executable = false\n";
  text += fmt::format("arguments = {}\n", condor_arguments(words));
  text += "should_transfer_files = YES\n";
  text += fmt::format("transfer_input_files = {}\n", fmt::join(paths_of(options), ", "));
  text += "transfer_output_files = \"\"\nwhen_to_transfer_output = ON_EXIT\n\n";
  text += fmt::format("request_cpus = {}\nrequest_memory = {}\nrequest_disk = 1G\n", options.cpus,
                      megabytes(options.memory));
  if (options.time) text += fmt::format("allowed_job_duration = {}\n", options.time->count());
  text += fmt::format(
      "\n# SIGTERM comes this long before SIGKILL, also where the job is removed.\n"
      "kill_sig = SIGTERM\nwant_graceful_removal = true\njob_max_vacate_time = {}\n\n",
      options.drain_before.count());
  text +=
      "log = zygo-pilot.$(Cluster).log\n"
      "output = zygo-pilot.$(Cluster).$(Process).out\n"
      "error = zygo-pilot.$(Cluster).$(Process).err\n\n";
  return text + fmt::format("queue {}\n", options.pilots);
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string objection_to_text(Engine engine, const PrintOptions& options) {
  std::vector<std::string> all = {options.image, options.space};
  if (engine != Engine::kKubernetes) all.push_back(options.program);  // a pod's is the image's
  for (const auto* each : {&options.joins, &options.arguments, &options.hosts}) {
    all.insert(all.end(), each->begin(), each->end());
  }
  const std::vector<std::string> files = paths_of(options);
  all.insert(all.end(), files.begin(), files.end());
  if (std::any_of(all.begin(), all.end(), has_control)) {
    return "a line break or another control character in an option cannot be printed";
  }
  if (engine != Engine::kKubernetes) return "";
  for (const std::string& text : all) {
    if (const size_t valid = runtime::valid_utf8_prefix(text); valid != text.size())
      return fmt::format("a manifest for Kubernetes is UTF-8, and an option is not: '{}...'",
                         text.substr(0, valid));
  }
  return "";
}

// Those of HTCondor and of Kubernetes come to lie in one folder.
std::string objection_to_files(Engine engine, const PrintOptions& options) {
  if (engine != Engine::kHtcondor && engine != Engine::kKubernetes) return "";
  std::set<std::string> names;
  for (const std::string& path : paths_of(options)) {
    if (engine == Engine::kHtcondor && path.find_first_of(", \"$") != path.npos) {
      return "transfer_input_files of HTCondor cannot name " + path + ": rename it";
    }
    if (!names.insert(last_name(path)).second) {
      return "two files are called " + last_name(path) + ", and a pilot has them in one folder";
    }
  }
  return "";
}

}  // namespace

std::string objection_to_print(Engine engine, const PrintOptions& options) {
  if (engine == Engine::kNone) return "--print takes slurm, htcondor, kubernetes or ssh";
  if (options.joins.empty()) return "--print needs --join URL: the router that pilots join";
  if (options.token_file.empty()) return "--print needs --token-file FILE";
  if (options.pilots == 0 || options.cpus == 0) return "a number of pilots or cores is 0";
  if (options.drain_before < std::chrono::seconds(4)) return "--drain-before is below 4 s";
  if (options.grace && *options.grace > options.drain_before)
    return "--grace is longer than --drain-before, after which engines end a pilot";
  if (engine == Engine::kSsh && options.hosts.empty()) return "--print ssh needs hosts";
  if (std::string text = objection_to_text(engine, options); !text.empty()) return text;
  return objection_to_files(engine, options);
}

std::string print_engine(Engine engine, const PrintOptions& options) {
  switch (engine) {
    case Engine::kSlurm:
      return print_slurm(options);
    case Engine::kHtcondor:
      return print_condor(options);
    case Engine::kKubernetes:
      return print_kubernetes(options);
    case Engine::kSsh:
      return print_ssh(options);
    case Engine::kNone:
      break;
  }
  return "";
}

}  // namespace cluster
