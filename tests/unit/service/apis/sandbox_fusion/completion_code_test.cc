#include "service/apis/sandbox_fusion/completion_code.h"

#include <catch2/catch.hpp>

namespace service {

TEST_CASE("the code of a completion is its first block of the language", "[service][completion]") {
  struct Case {
    const char *completion, *language, *code;
  };
  const Case cases[] = {
      {"Words\n```python\nx = 1\n```\nwords", "python", "x = 1"},
      {"```bash\npip\n```\n\n```py\nx\n\ny\n```\n", "python", "x\n\ny"},
      {"```\na\n```\n```c++\nb\n```", "cpp", "b"},
      {"```javascript\nlet x\n```", "nodejs", "let x"},
      // No block has the language: the first of any is taken.
      {"```text\na\n```\n```\nb\n```", "cpp", "a"},
      // The fence that closes a block may be indented, and stand behind empty lines.
      {"```R\nx <- 1\n\n   ```", "R", "x <- 1"},
      {"```python\n```", "python", "```"},
      {"```python\n\n```", "python", ""},
      // The block is not closed: all that follows is taken.
      {"Here:\n```cpp\nint x;\nwords", "cpp", "int x;\nwords"},
      {"```python", "python", ""},
      {"no fence", "cpp", ""},
  };
  for (const Case& one : cases) {
    INFO(one.completion);
    CHECK(code_of_completion(one.completion, one.language) == one.code);
  }
}

TEST_CASE("without a fence, what looks like code is taken", "[service][completion]") {
  CHECK(code_of_completion("So:\nimport os\n# it\n\ndef f():\n\n  pass\nf()\n", "python") ==
        "import os\n# it\ndef f():\n  pass\n");
  CHECK(code_of_completion("def f(): pass\nx", "python").empty());
  CHECK(code_of_completion("ls\n\npwd", "bash") == "ls\npwd\n");
}

}  // namespace service
