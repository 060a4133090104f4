#include "shim/heap/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "shim/heap/hot_pages.h"
#include "shim/heap/page_tally.h"
#include "shim/heap/settle.h"
#include "shim/python/interpreter_refs.h"
#include "shim/python/program.h"

namespace shim {

namespace {

// Programs of the usual kinds. Each runs in a child of its own.
struct Trial {
  Habit habit;
  std::string_view source;
};
constexpr Trial kTrials[] = {
    {Habit::kScript, "def f(n):\n    return [str(n)]\nprint(f(1))\n"},
    {Habit::kScript, "def f(grid):\n    return grid[3][4]\nprint('before')\nf([[1, 2]])\n"},
    {Habit::kScript,
     "import math, re\n"
     "from collections import Counter, defaultdict\n"
     "class Point:\n"
     "    def __init__(self, x, y):\n"
     "        self.x, self.y = x, y\n"
     "    def __repr__(self):\n"
     "        return f'({self.x}, {self.y:.2f})'\n"
     "def fib(n, memo={}):\n"
     "    if n < 2:\n"
     "        return n\n"
     "    if n not in memo:\n"
     "        memo[n] = fib(n - 1) + fib(n - 2)\n"
     "    return memo[n]\n"
     "words = 'the quick brown fox jumps over the lazy dog'.split()\n"
     "groups = defaultdict(list)\n"
     "for i, word in enumerate(sorted(set(words), key=len)):\n"
     "    groups[len(word)].append((i, word.upper()))\n"
     "points = [Point(i, math.sqrt(i)) for i in range(10)]\n"
     "total = sum(p.x * p.y for p in points if p.x % 2)\n"
     "try:\n"
     "    value = int(re.sub(r'[^0-9]', '', 'a12b') or '0')\n"
     "    value = groups[99][0]\n"
     "except (IndexError, ValueError) as error:\n"
     "    value = str(error)\n"
     "i = 0\n"
     "while True:\n"
     "    i += 3\n"
     "    if i > 100:\n"
     "        break\n"
     "print(fib(30), Counter(words).most_common(2), dict(groups), points[-1], total, value)\n"},
    {Habit::kCall, "def f(x):\n    return [row[::-1] for row in x]\n"},
    {Habit::kCall,
     "from collections import Counter\n"
     "def f(x):\n"
     "    seen = Counter(cell for row in x for cell in row)\n"
     "    common = {color for color, n in seen.items() if n > 0}\n"
     "    best = max(sorted(common), key=lambda color: seen[color])\n"
     "    out = []\n"
     "    for i in range(len(x)):\n"
     "        out.append([best if (i + j) % 2 else x[i][j] for j in range(len(x[0]))])\n"
     "    return out\n"},
    {Habit::kCall,
     "class Grid:\n"
     "    def __init__(self, rows):\n"
     "        self.rows = [list(row) for row in rows]\n"
     "    def turned(self):\n"
     "        return [list(row) for row in zip(*self.rows[::-1])]\n"
     "def f(x):\n"
     "    grid = Grid(x)\n"
     "    return [tuple(row) for row in grid.turned()]\n"},
    {Habit::kNumpyScript,
     "import numpy as np\n"
     "a = np.arange(12).reshape(3, 4)\n"
     "print(a.sum(), a.mean(axis=0), a[a > 3])\n"},
    {Habit::kNumpyScript,
     "import numpy as np\n"
     "rows = [[1.5, 2.0], [3.0, 4.0]]\n"
     "print(np.linalg.norm(np.array(rows) @ np.array(rows)))\n"},
    {Habit::kNumpyCall,
     "import numpy as np\n"
     "def f(x):\n"
     "    a = np.array(x)\n"
     "    b = np.zeros((4, 4), dtype=int)\n"
     "    b[:a.shape[0], :a.shape[1]] = np.where(a > 1, a, 0)\n"
     "    return np.rot90(b).tolist()\n"},
    {Habit::kNumpyCall,
     "import numpy as np\n"
     "def f(x):\n"
     "    grid = np.array(x)\n"
     "    out = grid.copy()\n"
     "    rows, columns = grid.shape\n"
     "    for i in range(rows):\n"
     "        for j in range(columns):\n"
     "            if grid[i, j] == 1:\n"
     "                out[i, j] = 3\n"
     "    return out\n"},
    {Habit::kNumpyCall,
     "import numpy as np\n"
     "from collections import Counter\n"
     "def f(x):\n"
     "    seen = Counter(cell for row in x for cell in row)\n"
     "    size = max(seen.values()) + 2\n"
     "    return np.zeros((size, size), dtype=int)\n"},
};

// Where numpy is not loaded, a program that mentions it is like any other.
struct Pair {
  Habit plain, numpy;
};
constexpr Pair kPairs[] = {{Habit::kScript, Habit::kNumpyScript},
                           {Habit::kCall, Habit::kNumpyCall}};

Mode mode_of(Habit habit) {
  return habit == Habit::kCall || habit == Habit::kNumpyCall ? Mode::kCall : Mode::kScript;
}

void put_count(std::string& to, char tag, size_t count) {
  uint32_t n = static_cast<uint32_t>(count);
  to.push_back(tag);
  to.append(reinterpret_cast<const char*>(&n), sizeof n);
}

void put_text(std::string& to, std::string_view text) {
  put_count(to, 's', text.size());
  to.append(text);
}

// The request of shim/value_format.h.
std::string request_for(const Trial& trial) {
  const Mode mode = mode_of(trial.habit);
  std::string to;
  put_count(to, 'l', 8);
  put_text(to, trial.source);
  to += {'u', static_cast<char>(mode)};
  put_text(to, mode == Mode::kScript ? "" : "f");
  put_count(to, 'l', mode == Mode::kScript ? 0 : 1);
  if (mode == Mode::kCall) {
    put_count(to, 'l', 2);
    put_count(to, 'l', 1);
    put_count(to, 'l', 1);
    put_count(to, 'l', 2);
    to += {'u', 1, 'u', 2};
    put_count(to, 'D', 0);
  }
  to += 'F';
  put_count(to, 'l', 1);
  put_text(to, "main.py");
  put_count(to, 'D', 0);
  put_count(to, 'l', 0);
  return to;
}

constexpr size_t kAnswerBytes = 64 << 10;

PageTally* tally = nullptr;

// In a child of the template. It is our own program, so nothing confines it.
[[noreturn]] void run_in_child(std::string_view request, void* region) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd : {0, 1, 2}) ::dup2(null, fd);
  set_before_exit([] { (void)tally->add_own(); });
  AnswerSpace space{static_cast<AnswerRegion*>(region), kAnswerBytes - sizeof(AnswerRegion), 1};
  run_program(request, space);
}

void run_trial(const Trial& trial) {
  void* region =
      ::mmap(nullptr, kAnswerBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) return;
  const std::string request = request_for(trial);
  long pid = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) run_in_child(request, region);
  int status;
  while (pid > 0 && ::waitpid(static_cast<pid_t>(pid), &status, __WALL) < 0 && errno == EINTR) {
  }
  ::munmap(region, kAnswerBytes);
}

std::vector<Trial> trials_of(Habit habit, const std::vector<Trial>& own) {
  std::vector<Trial> found;
  auto add = [&](const Trial& trial) {
    if (trial.habit == habit) found.push_back(trial);
  };
  for (const Trial& trial : own) add(trial);
  if (found.empty()) {
    for (const Trial& trial : kTrials) add(trial);
  }
  return found;
}

void tally_trials_of(Habit habit, const std::vector<Trial>& own) {
  tally->clear();
  for (const Trial& trial : trials_of(habit, own)) run_trial(trial);
}

}  // namespace

void warm_image(HeapMode mode) {
  if (mode == HeapMode::kPlain) return;
  const std::vector<std::string> sources = trials_of_setup();
  std::vector<Trial> own;
  for (const std::string& source : sources) {
    const bool numpy = source.find("numpy") != source.npos;
    own.push_back({numpy ? Habit::kNumpyCall : Habit::kCall, source});
  }
  settle_allocators();
  tally = PageTally::create();
  // Moved first, so that what a trial writes can be told from what the template wrote.
  if (!tally || make_heap_image(mode).error != 0) return;
  const bool numpy = loaded_numpy();
  for (const Pair& pair : kPairs) {
    tally_trials_of(pair.plain, own);
    choose_hot_pages(pair.plain, *tally);
    if (numpy) tally_trials_of(pair.numpy, own);
    choose_hot_pages(pair.numpy, *tally);
  }
  choose_way_of_copying();
  tally->destroy();
  drop_clean_pages();
}

}  // namespace shim
