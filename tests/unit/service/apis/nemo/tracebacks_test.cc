#include "service/apis/nemo/tracebacks.h"

#include <catch2/catch.hpp>

namespace service::nemo {

namespace {

// The traceback of a cell that calls a library with a function of an earlier cell.
constexpr const char* kThroughALibrary =
    "Traceback (most recent call last):\n"
    "  File \"step 4\", line 2, in <module>\n"
    "    json.loads(text())\n"
    "  File \"/usr/lib/python3/json/__init__.py\", line 346, in loads\n"
    "  File \"step 3\", line 1, in text\n"
    "    def text(): return '{'\n"
    "json.decoder.JSONDecodeError: Expecting value: line 1\n";

std::string plain(std::string_view traceback) {
  return told_by_ipython(traceback, Verbosity::kPlain);
}
std::string minimal(std::string_view traceback) {
  return told_by_ipython(traceback, Verbosity::kMinimal);
}

}  // namespace

TEST_CASE("a plain traceback has no places within cells", "[service][nemo]") {
  CHECK(plain("Traceback (most recent call last):\n"
              "  File \"step 1\", line 1, in <module>\n"
              "    1 / 0\n"
              "ZeroDivisionError: division by zero\n") ==
        "Traceback (most recent call last):\n"
        "    1 / 0\n"
        "ZeroDivisionError: division by zero\n");
  CHECK(plain(kThroughALibrary) ==
        "Traceback (most recent call last):\n"
        "    json.loads(text())\n"
        "  File /usr/lib/python3/json/__init__.py:346 in loads\n"
        "    def text(): return '{'\n"
        "JSONDecodeError: Expecting value: line 1\n");
  CHECK(told_by_ipython(kThroughALibrary, Verbosity::kFull) == kThroughALibrary);
}

TEST_CASE("a minimal traceback is the exception alone", "[service][nemo]") {
  CHECK(minimal(kThroughALibrary) == "JSONDecodeError: Expecting value: line 1\n");
  CHECK(minimal("Traceback (most recent call last):\n"
                "  File \"step 1\", line 2, in f\n"
                "    f()\n"
                "  [Previous line repeated 990 more times]\n"
                "RecursionError: maximum recursion depth exceeded\n") ==
        "RecursionError: maximum recursion depth exceeded\n");
}

TEST_CASE("an error of syntax is shown by one caret", "[service][nemo]") {
  for (const auto& told : {plain, minimal}) {
    CHECK(told("  File \"step 1\", line 2\n"
               "    b = 3\n"
               "IndentationError: unexpected indent\n") ==
          "    b = 3\n"
          "    ^\n"
          "IndentationError: unexpected indent\n");
    CHECK(told("  File \"step 1\", line 1\n"
               "    foo bar\n"
               "    ^^^^^^^\n"
               "SyntaxError: invalid syntax\n") ==
          "    foo bar\n"
          "    ^\n"
          "SyntaxError: invalid syntax\n");
    CHECK(told("  File \"other\", line 1\n"
               "    a b\n"
               "      ^\n"
               "SyntaxError: invalid syntax\n") ==
          "  File other:1\n"
          "    a b\n"
          "      ^\n"
          "SyntaxError: invalid syntax\n");
  }
}

TEST_CASE("a chain of exceptions has all of them", "[service][nemo]") {
  constexpr const char* kChain =
      "Traceback (most recent call last):\n"
      "  File \"step 1\", line 2, in <module>\n"
      "    1 / 0\n"
      "ZeroDivisionError: division by zero\n"
      "\n"
      "The above exception was the direct cause of the following exception:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"step 1\", line 4, in <module>\n"
      "    raise KeyError('b') from error\n"
      "KeyError: 'b'\n";
  CHECK(plain(kChain) ==
        "Traceback (most recent call last):\n"
        "    1 / 0\n"
        "ZeroDivisionError: division by zero\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "Traceback (most recent call last):\n"
        "    raise KeyError('b') from error\n"
        "KeyError: 'b'\n");
  CHECK(minimal(kChain) ==
        "ZeroDivisionError: division by zero\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "KeyError: 'b'\n");
}

TEST_CASE("a place stays where there is no source", "[service][nemo]") {
  constexpr const char* kOfAnEarlierCell =
      "Traceback (most recent call last):\n"
      "  File \"step 2\", line 1, in <module>\n"
      "    f()\n"
      "  File \"step 1\", line 2, in f\n"
      "ZeroDivisionError: division by zero\n";
  CHECK(plain(kOfAnEarlierCell) ==
        "Traceback (most recent call last):\n"
        "    f()\n"
        "  File step 1:2 in f\n"
        "ZeroDivisionError: division by zero\n");
  for (const auto& told : {plain, minimal}) {
    CHECK(told("  File \"step 1\", line 3\nSyntaxError: 'return' outside function\n") ==
          "  File step 1:3\nSyntaxError: 'return' outside function\n");
    CHECK(told("  File \"<string>\", line 1\n    1 +\nSyntaxError: invalid syntax\n") ==
          "  File <string>:1\n    1 +\nSyntaxError: invalid syntax\n");
  }
}

TEST_CASE("a message of many lines is told as it is", "[service][nemo]") {
  const std::string head =
      "Traceback (most recent call last):\n"
      "  File \"step 1\", line 1, in <module>\n"
      "    work()\n"
      "RuntimeError: it failed:\n";
  const std::string message =
      "KeyError: 'a'\n"
      "\n"
      "During handling of the above exception, another exception occurred:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"step 1\", line 6, in <module>\n"
      "a.b: c\n";
  CHECK(told_by_ipython(head + message, Verbosity::kPlain, message.size()) ==
        "Traceback (most recent call last):\n    work()\nRuntimeError: it failed:\n" + message);
  CHECK(told_of_command(head + message, message.size()).ends_with("failed:\n" + message));
}

TEST_CASE("a message may look like a traceback", "[service][nemo]") {
  constexpr const char* kMessage =
      "ValueError: it had\n"
      "Traceback (most recent call last):\n"
      "  File \"step 1\", line 1, in <module>\n"
      "    1 / 0\n"
      "a.b: c\n";
  for (const auto& told : {plain, minimal}) CHECK(told(kMessage) == kMessage);
  CHECK(told_of_command(kMessage) == kMessage);
}

TEST_CASE("a program that is given by -c has no source", "[service][nemo]") {
  CHECK(told_of_command("Traceback (most recent call last):\n"
                        "  File \"main.py\", line 3, in <module>\n"
                        "    f()\n"
                        "  File \"/usr/lib/python3/json/__init__.py\", line 346, in loads\n"
                        "json.decoder.JSONDecodeError: Expecting value: line 1\n") ==
        "Traceback (most recent call last):\n"
        "  File \"<string>\", line 3, in <module>\n"
        "  File \"/usr/lib/python3/json/__init__.py\", line 346, in loads\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1\n");
  CHECK(told_of_command("  File \"main.py\", line 2\n"
                        "    b = 3\n"
                        "IndentationError: unexpected indent\n") ==
        "  File \"<string>\", line 2\n"
        "    b = 3\n"
        "IndentationError: unexpected indent\n");
}

TEST_CASE("what is no traceback is told as it is", "[service][nemo]") {
  for (const char* text : {"",
                           "  + Exception Group Traceback (most recent call last):\n"
                           "  |   File \"step 1\", line 1, in <module>\n"
                           "  |     f()\n"
                           "  | ExceptionGroup: two (1 sub-exception)\n",
                           "  File \"step 1\", line , in f\n", "  File \"step 1\", line 1 in f\n",
                           "  File \"step 1\n"}) {
    CHECK(plain(text) == text);
    CHECK(told_of_command(text) == text);
  }
}

}  // namespace service::nemo
