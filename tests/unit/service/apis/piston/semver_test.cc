#include "service/apis/piston/semver.h"

#include <catch2/catch.hpp>

namespace service {

TEST_CASE("versions are found in what compilers say", "[service][semver]") {
  CHECK(version_in("Python 3.11.2") == Version{3, 11, 2});
  CHECK(version_in("go version go1.19.8 linux/amd64") == Version{1, 19, 8});
  CHECK(version_in("v20.20.2") == Version{20, 20, 2});
  CHECK(version_in("5.2.15(1)-release") == Version{5, 2, 15});
  CHECK(version_in("Rscript (R) version 4.2 build 7") == Version{4, 2, 0});
  CHECK_FALSE(version_in("rustc 163"));
  CHECK_FALSE(version_in("1.2.3.4.5"));
  CHECK_FALSE(version_in(""));
  CHECK(text_of({3, 11, 2}) == "3.11.2");
}

TEST_CASE("ranges of versions, as npm has them", "[service][semver]") {
  const Version v{3, 11, 2};
  for (const char* range : {"*",       "",
                            "x",       "3",
                            "3.x",     "3.X.*",
                            "3.11",    "3.11.x",
                            "3.11.2",  "=3.11.2",
                            "v3.11.2", "^3",
                            "^3.10",   "^3.11.2",
                            "~3.11",   "~3",
                            "~3.11.1", ">=3",
                            ">=3 <4",  "<4",
                            "<=3.11",  "<=3",
                            ">3.10",   ">2",
                            "2 || 3",  "  >=3.1   <3.12 "}) {
    INFO(range);
    CHECK(in_range(v, range));
  }
  for (const char* range :
       {"2",         "4.x",     "3.10",  "3.11.3",   "^2",    "^3.12",   "^4",
        "~3.10",     "~3.11.3", ">3",    ">3.11",    "<3",    "<3.11.2", "<=3.10",
        ">=3 <3.11", "2 || 4",  "three", "3.11.2.1", "3.x.2", "~x3"}) {
    INFO(range);
    CHECK_FALSE(in_range(v, range));
  }
  CHECK(in_range({0, 2, 5}, "^0.2.3"));
  CHECK_FALSE(in_range({0, 3, 0}, "^0.2.3"));
  CHECK_FALSE(in_range({0, 0, 4}, "^0.0.3"));
}

}  // namespace service
