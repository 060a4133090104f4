// Tests of the files that `zygo pilot --print` prints. Whole ones lie in tests/data/cluster, where
// tests/behaviour/cluster reads them: shells run them, schemas check them.
#include "cluster/engines/print.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cluster/engines/printed_words.h"

namespace cluster {
namespace {

PrintOptions usual() {
  return {.program = "/opt/zygo/bin/zygo",
          .joins = {"https://one.example:8443", "https://two.example"},
          .token_file = "/home/ada/pilot-token",
          .ca_file = "/home/ada/ca.pem",
          .pilots = 4,
          .cpus = 2,
          .memory = sys::mebibytes(3072),
          .time = std::chrono::hours(30),
          .arguments = {"--template", "python-numpy"},
          .hosts = {"n1", "ada@n2"}};
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

constexpr Engine kAll[] = {Engine::kSlurm, Engine::kHtcondor, Engine::kKubernetes, Engine::kSsh};

}  // namespace

TEST_CASE("printed files are those of tests/data/cluster (ZYGO_REGENERATE=1 writes them)",
          "[cluster][print][docs]") {
  const char* ending[] = {"sh", "sub", "yaml", "sh"};
  for (size_t i = 0; i < std::size(kAll); ++i) {
    const std::string path =
        ZYGO_SOURCE_DIR "/tests/data/cluster/" + std::string(name_of(kAll[i])) + "." + ending[i];
    const std::string text = print_engine(kAll[i], usual());
    if (std::getenv("ZYGO_REGENERATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
    INFO(path);
    CHECK(content_of(path) == text);
  }
}

TEST_CASE("a Slurm script asks for what was said, and becomes the pilot", "[cluster][print]") {
  const std::string text = print_engine(Engine::kSlurm, usual());

  CHECK(text.starts_with("#!/bin/sh\n"));
  for (const char* line :
       {"#SBATCH --array=1-4", "#SBATCH --cpus-per-task=2", "#SBATCH --mem=3072M",
        "#SBATCH --time=30:00:00", "#SBATCH --signal=B:TERM@60"}) {
    CHECK(has_line(text, line));
  }
  CHECK(text.find("\nexec /opt/zygo/bin/zygo pilot --join https://one.example:8443 ") !=
        std::string::npos);
  PrintOptions endless = usual();
  endless.time.reset();
  CHECK(print_engine(Engine::kSlurm, endless).find("--time") == std::string::npos);
}

TEST_CASE("words of a script are quoted where a shell would read them otherwise",
          "[cluster][print]") {
  CHECK(shell_word("a-b_c/d.e:1") == "a-b_c/d.e:1");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("$(id) b") == "'$(id) b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  PrintOptions odd = usual();
  odd.token_file = "/home/a da/$TOKEN";
  CHECK(print_engine(Engine::kSlurm, odd).find(" --token-file '/home/a da/$TOKEN' ") !=
        std::string::npos);
}

TEST_CASE("a submit file of HTCondor sends the token's file along", "[cluster][print]") {
  const std::string text = print_engine(Engine::kHtcondor, usual());

  for (const char* line :
       {"executable = /opt/zygo/bin/zygo", "transfer_executable = false",
        "transfer_input_files = /home/ada/pilot-token, /home/ada/ca.pem", "request_cpus = 2",
        "request_memory = 3072", "allowed_job_duration = 108000", "kill_sig = SIGTERM",
        "want_graceful_removal = true", "job_max_vacate_time = 60", "queue 4"}) {
    CHECK(has_line(text, line));
  }
  CHECK(text.find(" --token-file pilot-token --ca-file ca.pem ") != std::string::npos);
}

TEST_CASE("HTCondor finds a zygo in PATH, and reads arguments as they were", "[cluster][print]") {
  PrintOptions options = usual();
  options.program = "zygo";
  options.arguments = {"--name", "a \"b\" it's $(Cluster)"};
  const std::string text = print_engine(Engine::kHtcondor, options);

  CHECK(has_line(text, "executable = /usr/bin/env"));
  CHECK(text.find("\narguments = \"zygo pilot --join ") != std::string::npos);
  CHECK(text.find(" --name 'a \"\"b\"\" it''s $(DOLLAR)(Cluster)'\"\n") != std::string::npos);
}

TEST_CASE("pods get the pilot's files from a secret, by name", "[cluster][print]") {
  const std::string text = print_engine(Engine::kKubernetes, usual());

  CHECK(text.find("create secret generic zygo-pilot --from-file=/home/ada/pilot-token "
                  "--from-file=/home/ada/ca.pem\n") != std::string::npos);
  CHECK(has_line(text, "            - \"/etc/zygo/pilot-token\""));
  CHECK(has_line(text, "  replicas: 4"));
  CHECK(has_line(text, "  maxReplicas: 16"));
  CHECK(text.find("prometheus-adapter") != std::string::npos);
  for (const char* port : {"8443", "443", "8000", "53"}) {
    CHECK(has_line(text, "        - {protocol: TCP, port: " + std::string(port) + "}"));
  }
}

TEST_CASE("Kubernetes takes no part of an argument for a variable", "[cluster][print]") {
  PrintOptions options = usual();
  options.arguments = {"--name", "$(id) $HOME 5$"};
  const std::string text = print_engine(Engine::kKubernetes, options);

  CHECK(has_line(text, "            - \"$$(id) $$HOME 5$$\""));
}

TEST_CASE("the port of a router is read from its URL", "[cluster][print]") {
  PrintOptions options = usual();
  options.joins = {"http://[::1]/x:9", "http://router.zygo:8123/"};
  const std::string text = print_engine(Engine::kKubernetes, options);

  CHECK(text.find("port: 80}") != std::string::npos);
  CHECK(text.find("port: 8123}") != std::string::npos);
  CHECK(text.find("port: 443}") == std::string::npos);
  CHECK(text.find("port: 9}") == std::string::npos);
}

TEST_CASE("every engine gives a pilot the same time to drain", "[cluster][print]") {
  PrintOptions options = usual();
  options.drain_before = std::chrono::seconds(120);

  CHECK(has_line(print_engine(Engine::kSlurm, options), "#SBATCH --signal=B:TERM@120"));
  CHECK(has_line(print_engine(Engine::kHtcondor, options), "job_max_vacate_time = 120"));
  CHECK(print_engine(Engine::kKubernetes, options).find("terminationGracePeriodSeconds: 120 ") !=
        std::string::npos);
  for (const Engine engine : {Engine::kSlurm, Engine::kHtcondor, Engine::kSsh}) {
    CHECK(print_engine(engine, options).find(" --drain-before 120s --grace 90s ") !=
          std::string::npos);
  }
}

TEST_CASE("what could not work is not printed, and the reason is told", "[cluster][print]") {
  for (const Engine engine : kAll) CHECK(objection_to_print(engine, usual()).empty());
  const auto objection = [](Engine engine, auto change) {
    PrintOptions options = usual();
    change(options);
    return objection_to_print(engine, options);
  };

  CHECK_FALSE(objection_to_print(Engine::kNone, usual()).empty());
  for (const Engine engine : kAll) {
    CHECK_FALSE(objection(engine, [](PrintOptions& o) { o.joins.clear(); }).empty());
    CHECK_FALSE(objection(engine, [](PrintOptions& o) { o.token_file.clear(); }).empty());
    CHECK_FALSE(objection(engine, [](PrintOptions& o) { o.pilots = 0; }).empty());
    CHECK_FALSE(objection(engine, [](PrintOptions& o) { o.arguments = {"a\n#SBATCH x"}; }).empty());
  }
  const auto same_names = [](PrintOptions& o) { o.ca_file = "/etc/pilot-token"; };
  CHECK_FALSE(objection(Engine::kHtcondor, same_names).empty());
  CHECK_FALSE(objection(Engine::kKubernetes, same_names).empty());
  CHECK(objection(Engine::kSlurm, same_names).empty());
  CHECK_FALSE(objection(Engine::kHtcondor, [](PrintOptions& o) { o.token_file = "a, b"; }).empty());
  CHECK_FALSE(objection(Engine::kSsh, [](PrintOptions& o) { o.hosts.clear(); }).empty());
  const auto latin_1 = [](PrintOptions& o) { o.arguments = {"--name", "caf\xe9"}; };
  CHECK(objection(Engine::kKubernetes, latin_1) ==
        "a manifest for Kubernetes is UTF-8, and an option is not: 'caf...'");
  CHECK(objection(Engine::kSlurm, latin_1).empty());
}

}  // namespace cluster
