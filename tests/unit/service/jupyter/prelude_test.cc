#include "service/jupyter/prelude.h"

#include <catch2/catch.hpp>

namespace service::jupyter {

TEST_CASE("the text of a cell arrives in Python as it was", "[jupyter]") {
  CHECK(prelude_call("cell", {{"code", "a\"\\\n\xc3\xa4"}}) ==
        "__import__('zygo_kernel.run').run.cell(\"{\\\"code\\\":"
        "\\\"a\\\\\\\"\\\\\\\\\\\\n\\\\u00e4\\\"}\")\n");
}

}  // namespace service::jupyter
