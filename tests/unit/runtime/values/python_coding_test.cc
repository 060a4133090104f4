#include "runtime/values/python_coding.h"

#include <catch2/catch.hpp>

namespace runtime {

TEST_CASE("the coding line of a Python source is found where CPython finds it", "[python]") {
  CHECK(python_coding("# -*- coding: latin-1 -*-\n") == "latin-1");
  CHECK(python_coding("#!/usr/bin/python\r\n# vim: set fileencoding=cp1252 :\r\n") == "cp1252");
  CHECK(python_coding("\n\t#coding:euc_jp") == "euc_jp");
  CHECK(python_coding("# coding coding= \tkoi8-r") == "koi8-r");
  CHECK(python_coding("\xEF\xBB\xBF# coding: latin-1") == "latin-1");
}

TEST_CASE("what is no coding line names no coding", "[python]") {
  CHECK(python_coding("") == "");
  CHECK(python_coding("x = 1  # coding: latin-1\n") == "");
  CHECK(python_coding("x = 1\n# coding: latin-1\n") == "");
  CHECK(python_coding("#\n#\n# coding: latin-1\n") == "");
  CHECK(python_coding("# coding : latin-1\n# coding:\n") == "");
}

TEST_CASE("a coding line that names UTF-8 says nothing new", "[python]") {
  CHECK(python_coding("# coding: utf-8\n") == "");
  CHECK(python_coding("# coding: UTF_8\n# coding: latin-1") == "");
  CHECK(python_coding("# coding: utf8") == "");
  CHECK(python_coding("# coding: utf-8-sig") == "");
  CHECK(python_coding("# coding: utf-16") == "utf-16");
}

}  // namespace runtime
