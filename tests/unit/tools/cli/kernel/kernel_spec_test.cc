#include "tools/cli/kernel/kernel_spec.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace {

std::string folder_with(std::map<std::string, const char*> environment,
                        cli::KernelOptions options = {}) {
  return cli::kernel_folder(options, [&](const char* name) { return environment[name]; });
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
  const auto options = [](Words words) {
    words.insert(words.begin(), {"kernel", "install"});
    return cli::options_to_run(words, "/home/ann/work", [](const auto& path) {
      return path == "/home/ann/work/ml.tar.zst";
    });
  };
  CHECK(options({}).empty());
  CHECK(options({"--name", "mine", "--memory", "4G", "--display-name=Mine", "--prefix", "/usr",
                 "--cpu=1m"}) == Words{"--memory", "4G", "--cpu=1m"});
  CHECK(options({"--python", ".venv/bin/python", "--setup=setup.py", "--config", "../zygo.json"}) ==
        Words{"--python", "/home/ann/work/.venv/bin/python", "--setup=/home/ann/work/setup.py",
              "--config", "/home/ann/zygo.json"});
  CHECK(options({"--python", "python3.12", "--packages", "/opt/packages"}) ==
        Words{"--python", "python3.12", "--packages", "/opt/packages"});
  CHECK(options({"--python=ml.tar.zst"}) == Words{"--python=/home/ann/work/ml.tar.zst"});
  const auto spec = nlohmann::json::parse(cli::kernel_json("/bin/zygo", {"--cpu=1m"}, "Mine"));
  CHECK(spec["argv"] == Words{"/bin/zygo", "kernel", "run", "-f", "{connection_file}", "--cpu=1m"});
  CHECK(spec["interrupt_mode"] == "message");
}
