#include "service/apis/nemo/shells.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/service/apis/session_scene.h"

namespace service::nemo {
namespace {

using nlohmann::json;

struct ShellScene : SessionScene {
  Shells shells{{sessions, deadlines, defaults},
                {.most = 4, .most_of_client = 3, .most_waiting = 3, .idle = std::chrono::hours(1)}};
  std::vector<json> answers;
  size_t expected = 0;

  void execute(const std::string& client, const std::string& name, const std::string& source) {
    Execution cell{.shell = name, .job = {}, .wish = {"2", 1000, false}};
    cell.job.source = source;
    cell.job.limits.wall = cell.job.limits.cpu = sys::Milliseconds(2000);
    shells.execute(caller(client), name, std::move(cell), [this](const Response& response) {
      json answer = json::parse(response.body);
      answer["status"] = response.status;
      answers.push_back(std::move(answer));
      if (answers.size() == expected) loop.stop();
    });
  }
  void await(size_t count) {
    expected = count;
    if (answers.size() < count) loop.run();
    REQUIRE(answers.size() == count);
  }
  json cell(const std::string& client, const std::string& name, const std::string& source) {
    const size_t before = answers.size();
    execute(client, name, source);
    await(before + 1);
    return answers.back();
  }
  std::vector<std::string> names(const std::string& client) const {
    std::vector<std::string> all;
    for (const auto& each : shells.list(client)) all.push_back(each.name);
    return all;
  }
};

bool is_new(const json& answer) { return answer.at("new_session_created").get<bool>(); }

}  // namespace

TEST_CASE("shells: one begins with its first cell, and goes on from there", "[service][nemo]") {
  ShellScene scene;
  const json first = scene.cell("ann", "one", "x = 1");
  CHECK(first.at("status") == 200);
  CHECK(first.at("process_status") == "completed");
  CHECK(is_new(first));
  CHECK_FALSE(is_new(scene.cell("ann", "one", "x")));
  CHECK(scene.engine.sources == std::vector<std::string>{"", "x = 1", "x"});
}

TEST_CASE("shells: a name is its client's alone", "[service][nemo]") {
  ShellScene scene;
  CHECK(is_new(scene.cell("ann", "one", "1")));
  CHECK(is_new(scene.cell("bob", "one", "1")));
  CHECK(scene.names("ann") == std::vector<std::string>{"one"});
  CHECK_FALSE(scene.shells.end("eve", "one"));
  CHECK(scene.shells.end("bob", "one"));
  CHECK_FALSE(scene.shells.end("bob", "one"));
  CHECK_FALSE(is_new(scene.cell("ann", "one", "1")));
}

TEST_CASE("shells: cells that were sent together run in their order", "[service][nemo]") {
  ShellScene scene;
  scene.engine.paused = true;
  for (const char* source : {"1", "2", "3", "4"}) scene.execute("ann", "one", source);
  REQUIRE(scene.answers.size() == 1);  // more than may wait
  CHECK(scene.answers.front().at("status") == 502);
  scene.engine.paused = false;
  scene.engine.run_all();
  scene.await(4);
  CHECK(scene.engine.sources == std::vector<std::string>{"", "1", "2", "3"});
}

TEST_CASE("shells: a state that is gone begins anew, and says so", "[service][nemo]") {
  ShellScene scene;
  scene.cell("ann", "one", "x = 1");
  scene.engine.gone = "it was not used";  // each step's, also that of the new state
  CHECK(scene.cell("ann", "one", "x").at("status") == 502);
  scene.engine.gone.clear();
  CHECK(is_new(scene.cell("ann", "one", "x")));
  CHECK_FALSE(is_new(scene.cell("ann", "one", "x")));
}

TEST_CASE("shells: one that cannot begin is not there", "[service][nemo]") {
  ShellScene scene;
  scene.cell("ann", "one", "x = 1");
  scene.engine.keeps = false;
  CHECK(scene.cell("ann", "two", "x = 1").at("status") == 501);
  CHECK(scene.names("ann") == std::vector<std::string>{"one"});
}

TEST_CASE("shells: what cannot be kept says why", "[service][nemo]") {
  ShellScene scene;
  const json answer = scene.cell("ann", "one", "thread");
  CHECK(answer.at("stderr") ==
        "zygo: not kept: a second thread; the session is as it was before\n");
}

TEST_CASE("shells: the least recently used goes, its client's or anybody's", "[service][nemo]") {
  ShellScene scene;
  for (const char* name : {"a", "b", "c"}) scene.cell("ann", name, "1");
  scene.cell("ann", "a", "1");
  scene.cell("ann", "d", "1");
  CHECK(scene.names("ann") == std::vector<std::string>{"a", "c", "d"});
  scene.cell("bob", "a", "1");
  scene.cell("bob", "b", "1");
  CHECK(scene.names("ann") == std::vector<std::string>{"a", "d"});
  CHECK(scene.names("bob") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("shells: one that ends answers those who wait", "[service][nemo]") {
  ShellScene scene;
  scene.cell("ann", "one", "1");
  scene.engine.paused = true;
  scene.execute("ann", "one", "2");
  scene.execute("ann", "one", "3");
  CHECK(scene.shells.end("ann", "one"));
  REQUIRE(scene.answers.size() == 2);
  CHECK(scene.answers.back().at("stderr") == "the session was ended\n");
  scene.engine.paused = false;
  scene.engine.run_all();
  scene.await(3);
  CHECK(scene.answers.back().at("stderr") == "the session was ended\n");
  CHECK(is_new(scene.cell("ann", "one", "1")));
}

TEST_CASE("shells: a service without sessions has none", "[service][nemo]") {
  ShellScene scene;
  scene.engine.keeps = false;
  CHECK(scene.cell("ann", "one", "1").at("status") == 501);
}

}  // namespace service::nemo
