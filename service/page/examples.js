// Programs to begin with: each shows one kind of end. Their other needs are set in the form.

export const examples = [
  { name: "Hello", source: 'print("hello")\nprint(6 * 7)\n' },
  {
    name: "Call a function", mode: "call", func: "solve", inputs: "[1, 2, 10, 30]",
    source: "def solve(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
  },
  { name: "Read standard input", stdin: "3 4\n", source: "a, b = map(int, input().split())\nprint(a + b)\n" },
  {
    name: "Output while it runs",
    source: "import time\n\nfor left in range(3, 0, -1):\n    print(left)\n    time.sleep(1)\nprint(\"done\")\n",
  },
  {
    name: "A conversation", mode: "live", wall: 60,
    source: "name = input(\"Who is there? \")\nwhile line := input(f\"And what does {name} say? \"):\n    print(line[::-1])\nprint(\"Bye.\")\n",
  },
  { name: "An exception", source: "def mean(values):\n    return sum(values) / len(values)\n\nprint(mean([]))\n" },
  {
    name: "An endless loop", cpu: 0.5,
    source: "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n" +
      "        pass  # no timeout gets out of here\n",
  },
  { name: "Too much memory", memory: 64, source: "x = b\"x\" * (1 << 30)\n" },
  {
    name: "A forbidden call",
    source: 'import socket\n\ntry:\n    socket.socket()\nexcept OSError as error:\n    print("swallowed:", error)\n',
  },
  { name: "Chance", twice: true, source: "print({\"apple\", \"pear\", \"plum\", \"fig\", \"lime\"})\n" },
  { name: "C++", runtime: "cpp", source: "#include <iostream>\n\nint main() {\n  std::cout << 6 * 7 << '\\n';\n}\n" },
  { name: "C", runtime: "c", source: '#include <stdio.h>\n\nint main(void) {\n  printf("%d\\n", 6 * 7);\n}\n' },
  { name: "Java", runtime: "java", source: "class Main {\n  public static void main(String[] arguments) {\n    System.out.println(6 * 7);\n  }\n}\n" },
  { name: "JavaScript", runtime: "javascript", source: "console.log(6 * 7)\n" },
  { name: "Ruby", runtime: "ruby", source: "puts 6 * 7\n" },
  { name: "PHP", runtime: "php", source: "<?php\necho 6 * 7, \"\\n\";\n" },
  { name: "Go", runtime: "go", source: 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(6 * 7)\n}\n' },
  { name: "Rust", runtime: "rust", source: 'fn main() {\n    println!("{}", 6 * 7);\n}\n' },
  { name: "Bash", runtime: "bash", source: "echo $((6 * 7))\n" },
];
