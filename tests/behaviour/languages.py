"""One battery of programs in every language: the same deed has the same label, whoever commits it.

`PROGRAMS[deed][language]` is a source; what a language cannot do by itself is absent. (/dev/stdin leads through /proc,
which warm templates do not have: `open(0)` is the same there.)
"""

from __future__ import annotations

LANGUAGES = ("python", "c", "cpp", "bash", "javascript", "perl", "ruby", "lua", "php", "java", "go", "rust", "r")

# Limits small enough to be reached soon, and large enough for a JVM to start.
LIMITS = {"cpu_ms": 20000, "wall_ms": 30000, "memory_mb": 192, "stdout_kb": 256}
DEFAULT = {"profile": "default"}
SUBPROCESS = {"profile": "subprocess"}
NEED_PROCESSES = {"r"}  # to start, and to end: R asks a shell for uname, and has its scratch removed

# deed: (label, facts of the result, policy)
DEEDS = {
    "sum": ("OK", {"stdout": "7\n"}, DEFAULT),
    "stdin_by_name": ("OK", {"stdout": "3 4\n"}, DEFAULT),
    "endless": ("TimeoutException", {"limit": "cpu"}, DEFAULT),
    "sleep": ("TimeoutException", {"limit": "wall"}, DEFAULT),
    "hog": ("MemoryLimitExceeded", {"limit": "memory"}, DEFAULT),
    "flood": ("OutputLimitExceeded", {"limit": "stdout"}, DEFAULT),
    "exit_3": ("NonZeroExit", {"code": 3}, DEFAULT),
    "segv": ("Signalled", {"signal": "SIGSEGV"}, DEFAULT),
    "abort": ("Signalled", {"signal": "SIGABRT"}, DEFAULT),
    "fpe": ("Signalled", {"signal": "SIGFPE"}, DEFAULT),
    "bomb": ("UnsafeCode", {}, DEFAULT),
    "crowd": ("ProcessLimitExceeded", {"limit": "pids"}, SUBPROCESS),
    "socket": ("UnsafeCode", {}, DEFAULT),
    "write_outside": ("UnsafeCode", {}, DEFAULT),
    "scratch": ("OK", {"stdout": "kept\n"}, DEFAULT),
}

_C_BOMB = "#include <unistd.h>\nint main(void) { for (;;) fork(); }\n"
_JAVA = "public class Main {{ public static void main(String[] a) throws Exception {{ {} }} }}\n"
_GO = "package main\nimport ({})\nfunc main() {{ {} }}\n"
_RUST = "fn main() {{ {} }}\n"


def _java(body: str) -> str:
    return _JAVA.format(body)


def _go(imports: str, body: str) -> str:
    return _GO.format("; ".join(f'"{name}"' for name in imports.split()), body)


def _c(body: str) -> str:
    return ("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <signal.h>\n#include <unistd.h>\n"
            "#include <sys/socket.h>\nint main(void) { " + body + " return 0; }\n")


def _both(body: str) -> dict[str, str]:
    return {"c": _c(body), "cpp": _c(body)}


def _kill(signal: str) -> dict[str, str]:
    return {"python": f"import os, signal\nos.kill(os.getpid(), signal.{signal})\n",
            **_both(f"signal({signal}, SIG_DFL); raise({signal});"),
            "bash": f"kill -{signal[3:]} $$\n",
            "javascript": f"process.kill(process.pid, '{signal}'); setTimeout(() => {{}}, 5000);\n",
            "perl": f"kill '{signal[3:]}', $$; sleep 5;\n",
            # Ruby turns a SIGSEGV into a report and a SIGABRT.
            **({} if signal == "SIGSEGV" else {"ruby": f"Process.kill('{signal[3:]}', $$); sleep 5\n"})}


# The limits of the programs that are about time. Where nothing runs, only the wall clock ends it.
LIMITS_OF = {"endless": {"cpu_ms": 1500}, "sleep": {"wall_ms": 1000}}

PROGRAMS: dict[str, dict[str, str]] = {
    "sum": {
        "python": "print(sum(map(int, input().split())))\n",
        "c": '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }\n',
        "cpp": '#include <bits/stdc++.h>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << "\\n"; }\n',
        "bash": "read a b; echo $((a + b))\n",
        "javascript": "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number); console.log(a + b);\n",
        "perl": 'my ($a, $b) = split / /, <STDIN>; print $a + $b, "\\n";\n',
        "ruby": "puts gets.split.map(&:to_i).sum\n",
        "lua": "print(io.read('n') + io.read('n'))\n",
        "php": "<?php [$a, $b] = explode(' ', fgets(STDIN)); echo $a + $b, \"\\n\";\n",
        "java": _java("var in = new java.util.Scanner(System.in); System.out.println(in.nextInt() + in.nextInt());"),
        "go": _go("fmt", "var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b)"),
        "rust": _RUST.format("let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); "
                             "println!(\"{}\", s.split_whitespace().map(|x| x.parse::<i32>().unwrap()).sum::<i32>());"),
        "r": "x <- scan(file('stdin'), quiet = TRUE); cat(sum(x), '\\n', sep = '')\n",
    },
    "stdin_by_name": {
        "c": _c('char s[9]; FILE *f = fopen("/dev/stdin", "r"); fputs(fgets(s, 9, f), stdout);'),
        "cpp": _c('char s[9]; FILE *f = fopen("/dev/stdin", "r"); fputs(fgets(s, 9, f), stdout);'),
        "bash": "read -r line < /dev/stdin; echo \"$line\"\n",
        "javascript": "process.stdout.write(require('fs').readFileSync('/dev/stdin', 'utf8'));\n",
        "perl": "open F, '<', '/dev/stdin' or die; print <F>;\n",
        "ruby": "print File.read('/dev/stdin')\n",
        "lua": "io.write(io.open('/dev/stdin'):read('a'))\n",
        "php": "<?php echo file_get_contents('php://stdin');\n",
        "java": _java("System.out.println(new java.util.Scanner(new java.io.File(\"/dev/stdin\")).nextLine());"),
        "go": _go("fmt os", 'b, _ := os.ReadFile("/dev/stdin"); fmt.Print(string(b))'),
        "rust": _RUST.format('print!("{}", std::fs::read_to_string("/dev/stdin").unwrap());'),
    },
    "endless": {
        "python": "while True: pass\n", **_both("for (volatile int i = 0;; ++i);"), "bash": "while :; do :; done\n",
        "javascript": "for (;;);\n", "perl": "1 while 1;\n", "ruby": "loop {}\n", "lua": "while true do end\n",
        "php": "<?php for (;;);\n", "java": _java("for (long i = 0;; ++i) if (i < 0) break;"),
        "go": _go("", "for i := 0; ; i++ { }"),
        "rust": _RUST.format("let mut i = 0u64; loop { i += 1; unsafe { std::ptr::read_volatile(&i); } }"),
        "r": "while (TRUE) {}\n",
    },
    "sleep": {
        "python": "import time; time.sleep(60)\n", **_both("sleep(60);"),
        "javascript": "setTimeout(() => {}, 60000);\n", "perl": "sleep 60;\n", "ruby": "sleep 60\n",
        "php": "<?php sleep(60);\n", "java": _java("Thread.sleep(60000);"), "go": _go("time", "time.Sleep(60e9)"),
        "rust": _RUST.format("std::thread::sleep(std::time::Duration::from_secs(60));"), "r": "Sys.sleep(60)\n",
    },
    "hog": {
        "python": "x = []\nwhile True: x.append(bytearray(1 << 20))\n",
        **_both("for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }".replace("char *p =", "char *p = (char *)")),
        "bash": "printf -v x '%01048576d' 0; while :; do x=$x$x; done\n",
        "javascript": "const x = []; for (;;) x.push(Buffer.alloc(1 << 20, 1));\n",
        "perl": "my @x; push @x, 'x' x (1 << 20) while 1;\n", "ruby": "x = []; loop { x << ('x' * (1 << 20)) }\n",
        "lua": "local x = {} while true do x[#x + 1] = string.rep('x' .. #x, 1 << 20) end\n",
        "php": "<?php ini_set('memory_limit', -1); $x = []; for (;;) $x[] = str_repeat('x', 1 << 20);\n",
        "java": _java("var x = new java.util.ArrayList<byte[]>(); for (;;) { var b = new byte[1 << 20]; "
                      "java.util.Arrays.fill(b, (byte) 1); x.add(b); }"),
        "go": _go("", "x := [][]byte{}; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; x = append(x, b) }"),
        "rust": _RUST.format("let mut x = Vec::new(); loop { x.push(vec![1u8; 1 << 20]); }"),
        "r": "x <- list(); while (TRUE) x[[length(x) + 1]] <- rep(1.5, 131072)\n",
    },
    "flood": {
        "python": "while True: print('x' * 1000)\n", **_both('for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
        "bash": "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n",
        "javascript": "for (;;) require('fs').writeSync(1, 'x'.repeat(1000));\n",
        "perl": "print 'x' x 1000 while 1;\n", "ruby": "loop { puts 'x' * 1000 }\n",
        "lua": "while true do print(string.rep('x', 1000)) end\n", "php": "<?php for (;;) echo str_repeat('x', 1000);\n",
        "java": _java("for (;;) System.out.println(\"x\".repeat(1000));"),
        "go": _go("fmt strings", 'for { fmt.Println(strings.Repeat("x", 1000)) }'),
        "rust": _RUST.format('loop { println!("{}", "x".repeat(1000)); }'), "r": "while (TRUE) cat(strrep('x', 1000))\n",
    },
    "exit_3": {
        "python": "import sys; sys.exit(3)\n", **_both("exit(3);"), "bash": "exit 3\n", "javascript": "process.exit(3);\n",
        "perl": "exit 3;\n", "ruby": "exit 3\n", "lua": "os.exit(3)\n", "php": "<?php exit(3);\n",
        "java": _java("System.exit(3);"), "go": _go("os", "os.Exit(3)"), "rust": _RUST.format("std::process::exit(3);"),
        "r": "quit(status = 3)\n",
    },
    "segv": _kill("SIGSEGV"),
    "abort": {**_kill("SIGABRT"), **_both("abort();"), "javascript": "process.abort();\n",
              "rust": _RUST.format("std::process::abort();")},
    "fpe": {**_kill("SIGFPE"), "perl": "$SIG{FPE} = 'DEFAULT'; kill 'FPE', $$; sleep 5;\n", **_both("volatile int zero = 0; return 7 / zero;")},
    "bomb": {
        "python": "import os\nwhile True: os.fork()\n", "c": _C_BOMB, "cpp": _C_BOMB,
        "bash": "b() { b | b & }; b; wait\n",
        "javascript": "for (;;) require('child_process').spawnSync('/bin/sleep', ['9']);\n",
        "perl": "fork while 1;\n", "ruby": "loop { fork }\n", "lua": "while true do os.execute('sleep 9 &') end\n",
        "php": "<?php for (;;) exec('sleep 9 &');\n",
        "java": _java("for (;;) new ProcessBuilder(\"/bin/sleep\", \"9\").start();"),
        "go": _go("os/exec", 'for { exec.Command("/bin/sleep", "9").Start() }'),
        "rust": _RUST.format('loop { let _ = std::process::Command::new("/bin/sleep").arg("9").spawn(); }'),
    },
    # An end is part of the deed: what goes on for ever has a time limit, and that label comes first. (bash retries a
    # fork that fails for fifteen seconds.)
    "crowd": {
        "python": "import os, time\nfor i in range(100):\n    try:\n        if os.fork() == 0: time.sleep(9)\n"
                  "    except OSError: pass\n",
        **_both("for (int i = 0; i < 100; ++i) if (fork() == 0) { sleep(9); _exit(0); }"),
        "javascript": "for (let i = 0; i < 100; ++i) require('child_process').spawn('sleep', ['9']).on('error', () => {});\n"
                      "setTimeout(() => process.exit(0), 500);\n",
        "perl": "for (1 .. 100) { my $p = fork; if (defined $p && $p == 0) { sleep 9; exit; } }\n",
        # A fork that is refused it tries again, for ever.
        "ruby": "Thread.new { sleep 5; exit! }; 100.times { fork { sleep 9 } }\n",
        "php": "<?php for ($i = 0; $i < 100; ++$i) exec('sleep 9 > /dev/null 2>&1 &');\n",
        "java": _java("for (int i = 0; i < 100; ++i) try { new ProcessBuilder(\"sleep\", \"9\").start(); } "
                      "catch (java.io.IOException | OutOfMemoryError e) { } Runtime.getRuntime().halt(0);"),
        "go": _go("os/exec", 'for i := 0; i < 100; i++ { exec.Command("sleep", "9").Start() }'),
        "rust": _RUST.format('for _ in 0..100 { let _ = std::process::Command::new("sleep").arg("9").spawn(); }'),
    },
    "socket": {
        "python": "import socket; socket.create_connection(('127.0.0.1', 80))\n",
        **_both("return socket(AF_INET, SOCK_STREAM, 0) < 0;"), "bash": "echo > /dev/tcp/127.0.0.1/80\n",
        "javascript": "require('net').connect(80, '127.0.0.1');\n",
        "perl": "use IO::Socket::INET; IO::Socket::INET->new('127.0.0.1:80') or die;\n",
        "ruby": "require 'socket'; TCPSocket.new('127.0.0.1', 80)\n",
        "php": "<?php fsockopen('127.0.0.1', 80);\n", "java": _java("new java.net.Socket(\"127.0.0.1\", 80);"),
        "go": _go("net", 'net.Dial("tcp", "127.0.0.1:80")'),
        "rust": _RUST.format('std::net::TcpStream::connect("127.0.0.1:80").unwrap();'),
        "r": "socketConnection('127.0.0.1', 80)\n",
    },
    "write_outside": {
        "python": "open('/usr/x', 'w')\n", **_both('fopen("/usr/x", "w");'), "bash": "echo > /usr/x\n",
        "javascript": "require('fs').writeFileSync('/usr/x', 'x');\n", "perl": "open F, '>', '/usr/x' or die;\n",
        "ruby": "File.write('/usr/x', 'x')\n", "lua": "io.open('/usr/x', 'w')\n",
        "php": "<?php file_put_contents('/usr/x', 'x');\n",
        "java": _java("new java.io.FileOutputStream(\"/usr/x\");"), "go": _go("os", 'os.Create("/usr/x")'),
        "rust": _RUST.format('let _ = std::fs::File::create("/usr/x");'), "r": "writeLines('x', '/usr/x')\n",
    },
    "scratch": {
        "python": "open('x', 'w').write('kept'); print(open('x').read())\n",
        **_both('FILE *f = fopen("x", "w"); fputs("kept\\n", f); fclose(f); char s[9]; f = fopen("x", "r"); '
                'fputs(fgets(s, 9, f), stdout);'),
        "bash": "echo kept > x; read -r line < x; echo \"$line\"\n",
        "javascript": "const fs = require('fs'); fs.writeFileSync('x', 'kept'); console.log(fs.readFileSync('x', 'utf8'));\n",
        "perl": "open F, '>', 'x'; print F \"kept\\n\"; close F; open F, '<', 'x'; print <F>;\n",
        "ruby": "File.write('x', 'kept'); puts File.read('x')\n",
        "lua": "local f = io.open('x', 'w') f:write('kept') f:close() print(io.open('x'):read('a'))\n",
        "php": "<?php file_put_contents('x', \"kept\\n\"); echo file_get_contents('x');\n",
        "java": _java("var p = java.nio.file.Path.of(\"x\"); java.nio.file.Files.writeString(p, \"kept\"); "
                      "System.out.println(java.nio.file.Files.readString(p));"),
        "go": _go("fmt os", 'os.WriteFile("x", []byte("kept"), 0644); b, _ := os.ReadFile("x"); fmt.Println(string(b))'),
        "rust": _RUST.format('std::fs::write("x", "kept").unwrap(); println!("{}", std::fs::read_to_string("x").unwrap());'),
        "r": "writeLines('kept', 'x'); writeLines(readLines('x'))\n",
    },
}
