#include "runtime/values/value.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "runtime/job/job.h"

namespace runtime {
namespace {

using shim::Tag;

std::string bytes(const char* text, size_t size) { return std::string(text, size); }
#define BYTES(literal) bytes(literal, sizeof(literal) - 1)

template <typename Build>
std::string built(Build build) {
  Writer writer;
  build(writer);
  return writer.take();
}

std::string json(std::string_view value, bool arrays_as_lists = false) {
  std::string out;
  append_json(value, arrays_as_lists, out);
  return out;
}

std::string nested_lists(unsigned depth) {
  return built([&](Writer& w) {
    for (unsigned i = 0; i < depth; ++i) w.container(Tag::kList, 1);
    w.none();
  });
}

std::string array(const char* dtype, int64_t a, int64_t b) {
  return built([&](Writer& w) {
    w.array();
    w.text(dtype);
    w.container(Tag::kList, 1);
    w.integer(2);
    w.container(Tag::kList, 2);
    w.integer(a);
    w.integer(b);
  });
}

std::string number(double value) {
  return built([&](Writer& w) { w.number(value); });
}

}  // namespace

TEST_CASE("the reader refuses every malformed value and says at which byte", "[value]") {
  const std::string malformed[] = {
      "",
      "?",
      "NN",
      "u",
      BYTES("i\0\0\0"),
      BYTES("d\0\0\0\0\0\0\0"),
      BYTES("s\x05\0\0\0abc"),
      BYTES("s\x02\0\0\0\xC3("),
      BYTES("s\x03\0\0\0\xED\xA0\x80"),
      BYTES("s\xFF\xFF\xFF\xFF"),
      BYTES("l\x02\0\0\0N"),
      BYTES("l\xFF\xFF\xFF\xFFN"),
      BYTES("D\x01\0\0\0N"),
      BYTES("D\xFF\xFF\xFF\x7FNN"),
      BYTES("I\0\0\0\0"),
      BYTES("I\x01\0\0\0-"),
      BYTES("I\x02\0\0\0-0"),
      BYTES("I\x02\0\0\0007"),
      BYTES("I\x02\0\0\0+7"),
      BYTES("A"),
      BYTES("Au\x01"),
      BYTES("As\x01\0\0\0xl\x01\0\0\0NN"),
      BYTES("As\x01\0\0\0xl\x01\0\0\0i\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFN"),
      nested_lists(shim::kMaxValueDepth + 9),
      built([](Writer& w) { w.big_integer(std::string(4301, '9')); }),
  };
  for (const std::string& value : malformed) {
    const auto checked = check(value);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().text().starts_with("value, byte "));
    CHECK(json(value) == "null");
  }
  CHECK(check(nested_lists(shim::kMaxValueDepth)));
  CHECK(check(built([](Writer& w) { w.big_integer('-' + std::string(4299, '9')); })));
}

TEST_CASE("every prefix of a value is refused", "[value]") {
  const std::string value = built([](Writer& w) {
    w.container(Tag::kList, 3);
    w.raw(array("int64", 1, 1000));
    w.container(Tag::kDict, 1);
    w.text("grün");
    w.complex(1, 2);
    w.bytes("raw");
  });
  REQUIRE(check(value));
  for (size_t size = 0; size < value.size(); ++size) CHECK_FALSE(check(value.substr(0, size)));
}

TEST_CASE("scalars become plain JSON, and what JSON cannot say becomes a tagged form",
          "[value][json]") {
  const std::pair<std::string, const char*> table[] = {
      {"N", "null"},
      {"T", "true"},
      {built([](Writer& w) { w.integer(255); }), "255"},
      {built([](Writer& w) { w.integer(-1); }), "-1"},
      {built([](Writer& w) { w.integer(std::numeric_limits<int64_t>::min()); }),
       "-9223372036854775808"},
      {built([](Writer& w) { w.big_integer("123456789012345678901234567890"); }),
       "123456789012345678901234567890"},
      {number(1.0), "1.0"},
      {number(-0.0), "-0.0"},
      {number(0.1), "0.1"},
      {number(1e22), "1e+22"},
      {number(5e-324), "5e-324"},
      {number(std::nan("")), R"({"$type":"float","value":"nan"})"},
      {number(-INFINITY), R"({"$type":"float","value":"-inf"})"},
      {built([](Writer& w) { w.complex(1, INFINITY); }),
       R"({"$type":"complex","real":1.0,"imag":{"$type":"float","value":"inf"}})"},
      {built([](Writer& w) { w.text("a\"\\\n\x01\xC3\xBC"); }), "\"a\\\"\\\\\\n\\u0001\xC3\xBC\""},
      {built([](Writer& w) { w.bytes("hi"); }), R"({"$type":"bytes","data":"aGk="})"},
  };
  for (const auto& [value, expected] : table) {
    REQUIRE(check(value));
    CHECK(json(value) == expected);
  }
}

TEST_CASE("a dict is an object when its keys allow it, and pairs when they do not",
          "[value][json]") {
  const auto dict = [](auto key) {
    return built([&](Writer& w) {
      w.container(Tag::kDict, 1);
      key(w);
      w.container(Tag::kTuple, 0);
    });
  };
  CHECK(json(dict([](Writer& w) { w.text("k"); })) == R"({"k":{"$type":"tuple","items":[]}})");
  CHECK(json(dict([](Writer& w) { w.text("$types"); })) ==
        R"({"$types":{"$type":"tuple","items":[]}})");
  CHECK(json(dict([](Writer& w) { w.integer(1); })) ==
        R"({"$type":"dict","items":[[1,{"$type":"tuple","items":[]}]]})");
  CHECK(json(dict([](Writer& w) { w.text("$type"); })) ==
        R"({"$type":"dict","items":[["$type",{"$type":"tuple","items":[]}]]})");
}

TEST_CASE("an array is tagged, or a plain list when the job asked for arrays", "[value][json]") {
  CHECK(json(array("int64", 1, 2)) ==
        R"({"$type":"ndarray","dtype":"int64","shape":[2],"data":[1,2]})");
  CHECK(json(array("int64", 1, 2), true) == "[1,2]");
}

TEST_CASE("the first difference is a path into both values", "[value][difference]") {
  const auto list = [](std::initializer_list<std::string> items, Tag tag = Tag::kList) {
    return built([&](Writer& w) {
      w.container(tag, static_cast<uint32_t>(items.size()));
      for (const std::string& item : items) w.raw(item);
    });
  };
  const auto dict = [](std::initializer_list<std::pair<std::string, std::string>> items) {
    return built([&](Writer& w) {
      w.container(Tag::kDict, static_cast<uint32_t>(items.size()));
      for (const auto& [key, value] : items) w.text(key), w.raw(value);
    });
  };
  const std::string one = BYTES("u\x01"), two = BYTES("u\x02");

  CHECK_FALSE(first_difference(list({one, two}), list({one, two})));
  CHECK(first_difference(list({list({one, two})}), list({list({one, one})})) == "[0][1]");
  CHECK(first_difference(list({one}), list({one, two})) == "[1]");
  CHECK(first_difference(list({list({one})}), list({list({one}, Tag::kTuple)})) == "[0]");
  CHECK(first_difference(list({one}), list({number(1)})) == "[0]");
  CHECK_FALSE(first_difference(list({one}), list({BYTES("i\x01\0\0\0\0\0\0\0")})));
  CHECK_FALSE(first_difference(number(std::nan("1")), number(-std::nan("2"))));
  CHECK_FALSE(first_difference(dict({{"a", one}, {"b", two}}), dict({{"b", two}, {"a", one}})));
  CHECK(first_difference(dict({{"a", one}, {"b", two}}), dict({{"b", one}, {"a", one}})) ==
        R"(["b"])");
  CHECK(first_difference(dict({{"a", one}}), dict({{"a", one}, {"c", one}})) == R"(["c"])");
  CHECK(first_difference(list({dict({{"x", list({array("int64", 1, 2)})}})}),
                         list({dict({{"x", list({array("int64", 1, 3)})}})})) ==
        R"([0]["x"][0][1])");
  CHECK(first_difference(list({array("int64", 1, 2)}), list({array("int32", 1, 2)})) == "[0]");
  CHECK(first_difference("N", "T") == "");
  CHECK(first_difference("N", "garbage") == "");
}

TEST_CASE("deep dicts in different orders are compared in linear time", "[value][difference]") {
  std::string a = "N", b = "T";
  for (unsigned i = 0; i < shim::kMaxValueDepth; ++i) {
    const auto wrap = [](std::string_view inner, bool first) {
      return built([&](Writer& w) {
        w.container(Tag::kDict, 2);
        if (first) w.text("k"), w.raw(inner);
        w.text("other"), w.none();
        if (!first) w.text("k"), w.raw(inner);
      });
    };
    a = wrap(a, true);
    b = wrap(b, false);
  }
  std::string path;
  for (unsigned i = 0; i < shim::kMaxValueDepth; ++i) path += R"(["k"])";
  CHECK(first_difference(a, b) == path);
}

TEST_CASE("an answer of each kind is decoded, and fits its mode or is garbled", "[answer]") {
  using Kind = Testimony::Kind;
  using shim::AnswerKind;
  const std::string value = BYTES("l\x01\0\0\0u\x05"),
                    pair = BYTES("l\x02\0\0\0s\x01\0\0\0rs\x01\0\0\0p");

  CHECK(decode_answer(AnswerKind::kNothing, "", true).kind == Kind::kNothing);
  CHECK(decode_answer(AnswerKind::kFinished, "", false).kind == Kind::kFinished);
  CHECK(decode_answer(AnswerKind::kFinished, "", true).kind == Kind::kGarbled);
  CHECK(decode_answer(AnswerKind::kExited, "", true).kind == Kind::kExited);
  CHECK(decode_answer(AnswerKind::kValue, value, true).value == value);
  CHECK(decode_answer(AnswerKind::kValue, value, false).kind == Kind::kGarbled);
  CHECK(decode_answer(AnswerKind::kValue, value + "x", true).kind == Kind::kGarbled);
  CHECK(decode_answer(AnswerKind::kValue, BYTES("u\x05"), true).kind == Kind::kGarbled);
  CHECK(decode_answer(AnswerKind::kInvalid, pair, true).invalid_reason == "r");
  CHECK(decode_answer(AnswerKind::kInvalid, pair, true).invalid_path == "p");
  CHECK(decode_answer(AnswerKind::kException, pair, true).kind == Kind::kGarbled);
  CHECK(decode_answer(static_cast<AnswerKind>(77), "", true).kind == Kind::kGarbled);
}

TEST_CASE("an exception's texts are bounded and repaired, and its flags are read", "[answer]") {
  const std::string payload = built([](Writer& w) {
    w.container(Tag::kList, 5);
    w.text(std::string(1000, 'E'));
    w.text("lone \xED\xA0\x80 surrogate");
    w.text(std::string(100000, 'x') + "the end");
    w.integer(300);
    w.integer(shim::kMemoryErrorByInterpreter | shim::kCouldNotStart);
  });
  const Testimony said = decode_answer(shim::AnswerKind::kException, payload, true);
  REQUIRE(said.exception);
  CHECK(said.exception->type == std::string(256, 'E'));
  CHECK(said.exception->message == "lone \uFFFD\uFFFD\uFFFD surrogate");
  CHECK(said.exception->traceback.size() == 65536);
  CHECK(said.exception->traceback.ends_with("the end"));
  CHECK(said.exception->line == 300);
  CHECK(said.memory_error_by_interpreter);
  CHECK(said.could_not_start);
  CHECK_FALSE(said.no_space_by_interpreter);
}

TEST_CASE("a request is a well-formed value, even of a job whose texts are not UTF-8",
          "[request]") {
  Job job;
  job.source = "print('\xFF')";
  job.argv = {"a"};
  job.env = {{"K", "V"}};
  job.files = {{"dir/x", std::string("\0\xFF", 2), true}};

  const std::string request = encode_request(job);

  REQUIRE(check(request));
  CHECK(json(request) ==
        "[\"print('\uFFFD')\",0,\"\",[],false,[\"main.py\",\"a\"],{\"K\":\"V\"},"
        "[[\"dir/x\",{\"$type\":\"bytes\",\"data\":\"AP8=\"},true]]]");
}

}  // namespace runtime
