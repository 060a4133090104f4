#include "tools/cli/kernel/kernel_spec.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/cli/kernel/history.h"
#include "tools/cli/kernel/prelude.h"

namespace {

std::string folder_with(std::map<std::string, const char*> environment,
                        cli::KernelOptions options = {}) {
  return cli::kernel_folder(options, [&](const char* name) { return environment[name]; });
}

std::vector<std::string> codes(const nlohmann::json& answer) {
  std::vector<std::string> found;
  for (const auto& row : answer["history"]) found.push_back(row[2].dump());
  return found;
}

}  // namespace

TEST_CASE("a kernel is installed where Jupyter looks", "[jupyter]") {
  CHECK(folder_with({{"HOME", "/home/a"}}) == "/home/a/.local/share/jupyter/kernels/zygo");
  CHECK(folder_with({{"HOME", "/h"}, {"XDG_DATA_HOME", "/d"}}) == "/d/jupyter/kernels/zygo");
  CHECK(folder_with({{"XDG_DATA_HOME", "/d"}, {"JUPYTER_DATA_DIR", "/j"}}) == "/j/kernels/zygo");
  cli::KernelOptions options;
  options.prefix = "/usr";
  options.name = "mine";
  CHECK(folder_with({{"HOME", "/h"}}, options) == "/usr/share/jupyter/kernels/mine");
  CHECK(folder_with({}).empty());
}

TEST_CASE("the options of an installed kernel are those that install was given", "[jupyter]") {
  using Words = std::vector<std::string>;
  CHECK(cli::options_to_run({"kernel", "install"}).empty());
  CHECK(cli::options_to_run({"kernel", "install", "--name", "mine", "--memory", "4G",
                             "--display-name=Mine", "--prefix", "/usr", "--cpu=1m"}) ==
        Words{"--memory", "4G", "--cpu=1m"});
  const auto spec = nlohmann::json::parse(cli::kernel_json("/bin/zygo", {"--cpu=1m"}, "Mine"));
  CHECK(spec["argv"] == Words{"/bin/zygo", "kernel", "run", "-f", "{connection_file}", "--cpu=1m"});
  CHECK(spec["interrupt_mode"] == "message");
}

TEST_CASE("the text of a cell arrives in Python as it was", "[jupyter]") {
  CHECK(cli::prelude_call("cell", {{"code", "a\"\\\n\xc3\xa4"}}) ==
        "__import__('zygo_kernel.run').run.cell(\"{\\\"code\\\":"
        "\\\"a\\\\\\\"\\\\\\\\\\\\n\\\\u00e4\\\"}\")\n");
}

TEST_CASE("history has the last cells, a range of them, or those like a pattern", "[jupyter]") {
  using Texts = std::vector<std::string>;
  cli::History history;
  int64_t count = 0;
  for (const char* code : {"a", "b", "ab", "b"}) history.add(++count, code);
  CHECK(codes(history.answer({{"hist_access_type", "tail"}, {"n", 2}})) ==
        Texts{"\"ab\"", "\"b\""});
  CHECK(codes(history.answer({{"hist_access_type", "tail"}, {"n", 1}, {"output", true}})) ==
        Texts{"[\"b\",null]"});
  CHECK(codes(history.answer({{"hist_access_type", "range"}, {"start", 2}, {"stop", 4}})) ==
        Texts{"\"b\"", "\"ab\""});
  CHECK(codes(history.answer({{"hist_access_type", "range"}, {"session", 7}})).empty());
  const nlohmann::json search = {
      {"hist_access_type", "search"}, {"pattern", "*b"}, {"unique", true}};
  CHECK(codes(history.answer(search)) == Texts{"\"ab\"", "\"b\""});
  CHECK(codes(history.answer({{"hist_access_type", 1}})).empty());
}
