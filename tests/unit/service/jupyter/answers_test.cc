#include "service/jupyter/answers.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
using nlohmann::json;

TEST_CASE("what a cell shows has the protocol's form, whatever it says", "[jupyter]") {
  const json said = {{"data",
                      {{"text/plain", "1"},
                       {"text/html", 7},
                       {"application/json", {1, 2}},
                       {"application/vnd.x+json", {{"a", 1}}}}},
                     {"metadata", "none"},
                     {"transient", {{"display_id", "d"}, {"other", 1}}},
                     {"execution_count", 99},
                     {"more", true}};
  const json data = {
      {"text/plain", "1"}, {"application/json", {1, 2}}, {"application/vnd.x+json", {{"a", 1}}}};
  CHECK(output_of("execute_result", said, 3) ==
        json{{"data", data}, {"metadata", json::object()}, {"execution_count", 3}});
  for (const char* type : {"display_data", "update_display_data"}) {
    CHECK(output_of(type, said, 3) ==
          json{{"data", data}, {"metadata", json::object()}, {"transient", {{"display_id", "d"}}}});
  }
  CHECK(output_of("clear_output", {{"wait", "yes"}}, 3) == json{{"wait", false}});
  CHECK(output_of("display_data", json::object(), 3) == json{{"data", json::object()},
                                                             {"metadata", json::object()},
                                                             {"transient", json::object()}});
  for (const char* type : {"status", "error", "stream", "comm_open", "execute_reply", ""})
    CHECK_FALSE(output_of(type, said, 3));
}

TEST_CASE("a cell ends well or by an error, and as nothing else", "[jupyter]") {
  const json page = {{"source", "page"}, {"data", {{"text/plain", "?"}}}, {"start", 0}};
  const json said = {{"status", "ok"},
                     {"payload", {page, {{"source", "set_next_input"}, {"text", "rm"}}, 5}},
                     {"user_expressions",
                      {{"a", {{"status", "ok"}, {"data", {{"text/plain", "1"}}}, {"x", 1}}},
                       {"b", {{"status", "error"}, {"ename", "E"}, {"traceback", {"t", 1}}}},
                       {"c", 1}}},
                     {"execution_count", "many"}};
  const json expressions = {
      {"a", {{"status", "ok"}, {"data", {{"text/plain", "1"}}}, {"metadata", json::object()}}},
      {"b", {{"status", "error"}, {"ename", "E"}, {"evalue", ""}, {"traceback", {"t"}}}}};
  CHECK(ending_of(said) == json{{"status", "ok"},
                                {"payload", json::array({page})},
                                {"user_expressions", expressions}});
  for (const json& other : {json::object(), json{{"status", "aborted"}}, json{{"status", 1}}}) {
    CHECK(ending_of(other) ==
          json{{"status", "error"}, {"ename", ""}, {"evalue", ""}, {"traceback", json::array()}});
  }
}

TEST_CASE("answers to questions have the protocol's form", "[jupyter]") {
  CHECK(answer_of("complete", {{"status", "ok"}, {"matches", {"a", 1}}, {"cursor_end", 2}}) ==
        json{{"status", "ok"},
             {"matches", {"a"}},
             {"cursor_start", 0},
             {"cursor_end", 2},
             {"metadata", json::object()}});
  CHECK(answer_of("inspect", {{"status", "ok"}, {"found", true}, {"data", 1}}) ==
        json{{"status", "ok"},
             {"found", true},
             {"data", json::object()},
             {"metadata", json::object()}});
  CHECK(answer_of("is_complete", {{"status", "incomplete"}, {"indent", "  "}}) ==
        json{{"status", "incomplete"}, {"indent", "  "}});
  CHECK(answer_of("is_complete", {{"status", "error"}}) == json{{"status", "unknown"}});
  CHECK(answer_of("complete", {{"status", "error"}, {"ename", "E"}})["ename"] == "E");
}

}  // namespace service::jupyter
