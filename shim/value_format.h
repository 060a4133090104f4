#pragma once
// The typed value format: how a job's inputs enter the sandbox and how its value leaves it. Bytes
// from a job are hostile: a reader checks every length, bounds depth, and never runs code. Written
// and read on both sides of the sandbox: shim/python (Python objects) and runtime (JSON).
//
// A value is one tag byte followed by its content. Integers are little-endian. `u32` counts bytes
// (strings) or items (containers).
//
//   N none   T true   F false
//   u uint8           small non-negative integer, the common case of grids
//   i int64
//   I u32 + ASCII decimal, "-" allowed first: an integer outside int64, <= kMaxIntegerDigits digits
//   d float64         non-finite values allowed
//   c float64 float64 complex
//   s u32 + UTF-8     valid UTF-8, no surrogates
//   b u32 + bytes
//   l u32 + items     list          t tuple    S set    Z frozenset
//                     items of S and Z are sorted by their encoded bytes, so equal sets encode
//                     equally
//   D u32 + pairs     dict, key then value, in insertion order
//   A s(dtype) l(shape of i or u) value   ndarray; `value` is its nested list (tolist())

#include <cstdint>

namespace shim {

enum class Tag : uint8_t {
  kNone = 'N',
  kTrue = 'T',
  kFalse = 'F',
  kSmall = 'u',
  kInt = 'i',
  kBigInt = 'I',
  kFloat = 'd',
  kComplex = 'c',
  kStr = 's',
  kBytes = 'b',
  kList = 'l',
  kTuple = 't',
  kSet = 'S',
  kFrozenSet = 'Z',
  kDict = 'D',
  kArray = 'A',
};

inline constexpr unsigned kMaxValueDepth = 200;
inline constexpr unsigned kMaxIntegerDigits = 4300;  // CPython's own default limit on int <-> str

// The request: what the child decodes before it runs the program. One list (tag l) of
//   [0] s source   [1] u mode (Mode)   [2] s func   [3] l calls: each l [l args, D kwargs]
//   [4] T/F array  [5] l argv of s (argv[0] is the program's name)   [6] D env s -> s
//   [7] l files: each l [s path, b content, T/F executable or N: a link to the content]; a path
//   that
//       ends in "/" is a directory
// A source whose bytes are not UTF-8 is l [b bytes, s encoding].
// kExec: func is the path of the program, empty for the one that came with the order; argv and env
// are all that it gets; source is the directory to run in, empty for the scratch; calls are empty.
// kWarm: the same, of an interpreter; a zygote that is one runs the script itself (shim/warm).
// kStep, kStepCall: the same as the first two, as a step of a session: the program finds the names
// of the steps before it, and rests when it is over. kStepShell: such a step, whose source is a
// command of the shell.
enum class Mode : uint8_t {
  kScript = 0,
  kCall = 1,
  kExec = 2,
  kWarm = 3,
  kStep = 4,
  kStepCall = 5,
  kStepShell = 6
};

// The answer: a MAP_SHARED region of the cell that holds one header and one encoded value. It is
// testimony. It counts only with the nonce of the order, which exists nowhere the program looks.
enum class AnswerKind : uint32_t {
  kNothing = 0,   // ended without a word: os._exit, a signal, ...
  kFinished = 1,  // script mode ended by falling off its end or sys.exit; payload: none
  // Call mode; payload: the list of results. Of kStep: the value of the last expression, or none,
  // and a dict of what shows it, by MIME type; of one that cannot be encoded, the dict alone. Of
  // kStepShell: the exit status, and none.
  kValue = 2,
  kException = 3,  // payload: list [s type name, s message, s traceback, i line or -1, u flags]
  kInvalid = 4,    // call mode: the value cannot be encoded; payload: list [s reason, s path]
  kExited = 5,     // call mode: SystemExit before the value was complete; payload: none
};
// Flags of kException. "Interpreter-made" means raised by C code, not by a `raise` of the program.
inline constexpr uint8_t kMemoryErrorByInterpreter = 1;  // MemoryError at an allocation
inline constexpr uint8_t kNoSpaceByInterpreter = 2;      // OSError ENOSPC or EDQUOT from a call
inline constexpr uint8_t kCouldNotStart = 4;             // raised while compiling the source
inline constexpr uint8_t kNoThreadByInterpreter = 8;     // RuntimeError "can't start new thread"

struct AnswerHeader {
  uint64_t nonce;
  AnswerKind kind;
  uint32_t size;  // bytes of payload behind the header
  // A step that rests tells the exit code that it would have ended with, whether an interval timer
  // is set, and brk(2).
  int32_t code;
  uint32_t has_timer;
  uint64_t end_of_heap;
};

// Where the program was when it last did something an audit hook names ("open", "os.system",
// "socket.__new__", ...). Lives at the start of the region; testimony, read when a call is refused.
struct AuditNote {
  uint64_t count;  // how many sensitive events so far; 0: none
  int32_t line;    // line of the innermost frame of the program, -1 unknown
  char event[60];  // NUL-terminated audit event name
};

struct AnswerRegion {  // what the region starts with; the payload follows
  AuditNote note;
  AnswerHeader header;
};

}  // namespace shim
