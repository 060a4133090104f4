#pragma once
// The examples under every --help. Each is a command that works as pasted, given its files.

namespace cli {

inline constexpr const char* kMainExamples = R"~(Examples:
  echo 'print("hello")' | zygo run -
  zygo run --cpu 1s --memory 256M prog.py
  zygo batch jobs.ndjson -o results.ndjson
  zygo doctor
  zygo selfcheck

`zygo COMMAND --help` has more of them.
)~";

inline constexpr const char* kRunExamples =
    R"~(Exit code: the program's own when it ended by itself; 1 exception, 124 TimeoutException,
125 SandboxError or BadJob, 126 UnsafeCode or NonDeterministicCode, 137 another limit,
128+n signal n. The label and its detail go to stderr. With --json the result goes to stdout and
the exit code is 0 when there is a verdict. On a terminal, control characters in the program's
output are shown, not obeyed; pipe it to get the raw bytes.
With --call the values go to stdout, and what the program prints goes to stderr.

Examples:
  zygo run prog.py
  zygo run --wall 2s --cpu 1s --memory 256M prog.py < input.txt
  zygo run prog.py -- --depth 3 file.txt
  echo 'print(6 * 7)' | zygo run -
  zygo run --template python-numpy --json prog.py
  zygo run solve.cpp < input.txt
  zygo run --image alpine --command ls -- -l /
  zygo run --call solve --inputs inputs.json prog.py
  zygo run --preload json,decimal --determinism 2 prog.py
)~";

inline constexpr const char* kSessionExamples =
    R"~(Each step finds the variables and files of those before it, in an interpreter of its own. A
step that a limit or the policy ends leaves the session where it was. Limits are those of a step;
memory and disk hold for the whole state. Lines that begin with % are commands:
  %undo [N]      back by N steps, or one
  %branch NAME   begin a branch here
  %go WHERE      to a step, by its number, or to a branch
  %tree          all steps
  %try           the lines up to an empty one are tried side by side, each from here
  %help, %quit
With --json each result is a line, as zygo run --json prints it. Exit code: 1 if the last step of a
file or pipe failed.

Examples:
  zygo session
  zygo session load.py
  printf 'x = 6\nx * 7\n' | zygo session
  zygo session --template python-numpy --wall 5s --memory 1G
)~";

inline constexpr const char* kMcpExamples =
    R"~(A server of the Model Context Protocol for one agent, which starts it: JSON-RPC on stdin and
stdout, messages for people on stderr. Its tools run Python that keeps variables and files, try many
programs from one state, undo, read and write files, and run programs of other languages. Limits are
those of a call; memory and disk hold for the whole state. Ends with its input.

Examples:
  zygo mcp
  zygo mcp --template python-numpy --cpu 30s --memory 2G
  claude mcp add zygo -- zygo mcp
)~";

inline constexpr const char* kKernelExamples =
    R"~(A kernel for JupyterLab, notebooks and all that speak Jupyter's protocol: each cell is a step of a
session (docs/sessions.md), so %undo, %branch and %go move between its states. install writes
kernel.json with the options for the kernel that it was given. Without them a cell may take 24 hours,
2G of memory and 1G of disk, and start programs (--profile subprocess); the program libzmq.so.5
(Debian: libzmq5) has to be there.

Examples:
  zygo kernel install
  zygo kernel install --template python-numpy --memory 4G --cpu 10m
  zygo kernel install --prefix /usr/local --name zygo-pure --profile pure
)~";

inline constexpr const char* kBatchExamples =
    R"~(A line is a job, the smallest is {"source": "print(1)"}. A job without an id is job-N, N
being its line. Results come in completion order, each as soon as it is there, so zygo batch can also be kept
as a coprocess (read while you write). A malformed line gives a BadJob result; the rest goes on.
Progress and the table of outcomes go to stderr; with --json the table is one JSON line.
Ctrl-C keeps every finished result; --resume then runs the rest. A closed stdout ends it quietly.

Exit code: 0 every line got a verdict; 1 some lines were BadJob or SandboxError; 2 usage;
125 zygo cannot work here or the results cannot be written; 130 interrupted.

Examples:
  zygo batch jobs.ndjson -o results.ndjson
  zygo batch jobs.ndjson -o results.ndjson --resume
  echo '{"source": "print(1)"}' | zygo batch
  zygo batch --workers 4 --defaults defaults.json jobs.ndjson > results.ndjson
)~";

inline constexpr const char* kServeExamples =
    R"~(POST /v1/jobs takes a job and answers with its result; POST /v1/batches takes lines as
zygo batch does. GET /v1/openapi.json lists the rest; a browser finds a page at /. When the queue is
full the answer is 429 with Retry-After. On a unix socket the file's mode says who may connect;
elsewhere tokens do. An address that other hosts can reach needs --tokens (or --allow-anyone).
Every option can also be given by the environment: ZYGO_QUEUE=500 is --queue 500.
On SIGTERM or Ctrl-C it takes no new jobs, running ones have --grace to end, and the rest is
Cancelled; a second signal ends it at once. SIGHUP makes it read --config and --tokens again, but
ends a service that has a terminal. With --json one line on stdout says when it is ready, and where.
With --durable FILE, jobs and batches sent with ?async=1&durable=1 are on the disk before they are
acknowledged: the next service with that FILE runs those without a result.

Exit code: 0 ended by a signal; 2 usage; 125 zygo cannot work or listen here; 130 second signal.

Examples:
  zygo serve
  zygo serve --listen unix:/run/zygo/zygo.sock --socket-mode 0660
  zygo serve --listen 0.0.0.0:8000 --tokens /etc/zygo/tokens --log json
  zygo serve --template python-numpy --workers 8 --queue 500
  zygo serve --api sandbox-fusion --api piston
  zygo serve --cors https://grader.example --no-page
  zygo serve --durable /var/lib/zygo/jobs.db
  zygo serve --api go-judge --listen 127.0.0.1:5050 --file-source /data/tests
  ZYGO_REQUIRE=contained ZYGO_LISTEN=0.0.0.0:8000 ZYGO_TOKENS=/etc/zygo/tokens zygo serve
  curl -d '{"source": "print(6 * 7)"}' http://127.0.0.1:8000/v1/jobs
  curl --data-binary @jobs.ndjson http://127.0.0.1:8000/v1/batches
)~";

inline constexpr const char* kRouteExamples =
    R"~(Speaks every API that zygo serve speaks, and runs nothing itself: pilots (zygo pilot) join it
and run the jobs. Jobs wait while there is no pilot. A job whose pilot is lost starts again at
another; the first verdict counts. GET /v1/pilots lists the pilots (scope metrics); a pilot's token
has the scope pilot, and no other. SIGTERM ends it as it ends zygo serve.

Exit code: 0 ended by a signal; 2 usage; 125 zygo cannot work or listen here; 130 second signal.

Examples:
  zygo route --listen 0.0.0.0:8000 --tokens /etc/zygo/tokens
  zygo route --lease 5s --durable /var/lib/zygo/jobs.db
  zygo route --name east --peer west=http://west:8000 --tokens /etc/zygo/tokens
  zygo route --api sandbox-fusion --require contained)~";

inline constexpr const char* kPilotExamples =
    R"~(Joins one or more routers (zygo route) and runs their jobs. It dials; nothing connects to it.
A router that is away is dialled again. On SIGTERM, and --drain-before the end of its slot, it takes
nothing new, gives back what has not begun, ends what runs within --grace, and leaves. Slurm,
HTCondor and Kubernetes tell it the cores, the memory and the end of its slot. With --listen it
serves /healthz, /metrics and jobs of its own, too, as zygo serve does.

Exit code: 0 ended by a signal or by its slot; 2 usage; 125 zygo cannot work here; 130 second signal.

Examples:
  zygo pilot --join http://router:8000 --token-file /etc/zygo/pilot-token
  zygo pilot --join https://router.example --ca-file ca.pem --token-file token
  zygo pilot --join http://a:8000 --join http://b:8000 --token-file token --require contained)~";

inline constexpr const char* kScaleExamples =
    R"~(Looks at a router's pilots and at the engine's queue, and asks the engine by its own commands for
more pilots while a new job waits longer than --wait, and for fewer after --idle with little to do.
It asks for no more while slots wait in the engine's queue. On SIGTERM or Ctrl-C it ends all pilots
that it started. One that is started again finds them by --name. Kubernetes scales by itself
(zygo pilot --print kubernetes). --json has a line for each step.

Exit code: 0 ended by a signal, and no pilot is left; 2 usage; 125 pilots may be left.

Examples:
  zygo scale --engine slurm --url http://router:8000 --max 64 --pilot-token-file /shared/token
  zygo scale --engine htcondor --url http://router:8000 --min 4 --max 200 --cpus 8 --memory 16G
  zygo scale --engine slurm --url https://router.example --ca-file ca.pem --max 64 --token-file token
  zygo scale --engine slurm --url http://router:8000 --max 8 --directive partition=short --dry-run)~";

inline constexpr const char* kHealthExamples =
    R"~(Requests /healthz, or with --ready /readyz; neither needs a token. Use it as the health check of a
container.

Exit code: 0 it answered 200; 1 another answer, or none; 2 usage.

Examples:
  zygo health
  zygo health --ready --quiet 127.0.0.1:8000
  zygo health unix:/run/zygo/zygo.sock
  zygo health --ca-file ca.pem https://judge.example/zygo
)~";

inline constexpr const char* kJudgeExamples =
    R"~(The command reads the problem package format, versions legacy and 2023-07 (2025-09):
problem.yaml, data/sample and data/secret, the default output validator or the package's own,
submissions/FOLDER/. The time limit is CPU time: .timelimit, or limits.time_limit; else the slowest
accepted submission times limits.time_multiplier (5), at least 1 s; 10 s where there is none; from
2023 on, twice the slowest, in whole seconds. A submission ends at its first failure. A folder is one
program: it begins in main.*, and all C, C++, Java or Go sources in it are compiled; or its scripts
build and run do it.
Problems of type scoring are graded group by group: by the default grader, or from 2023-07 on by
max_score, score_aggregation and require_pass; their validator may give scores.

Verdicts: AC OK, PAC accepted without the best score, WA WrongAnswer, TLE TimeoutException, RTE
every other end of the program's own, CE CompilationError or SyntaxError, MLE and OLE the limits of
that name, JE no verdict on the submission.

Exit code: 0 judged (with --self: all as their folders say); 1 --self found a difference, or a
submission is JE; 2 usage, or the package cannot be read; 125 zygo cannot work here.

Examples:
  zygo judge problems/sum solve.cpp
  zygo judge problems/sum --all --json solve.py other/ | jq '.verdict'
  zygo judge --self problems/sum
)~";

inline constexpr const char* kTestExamples =
    R"~(The tests run as they are, in a sandbox of their own, where the modules of the program are proxies for
its objects in another one: a program cannot reach the code that judges it. TESTS is a file, or a folder
whose test_*.py and *_test.py are run, beside its other files; PROGRAM is a file, which the tests import
by its name or by any other, or a folder of modules. pytest comes from the interpreter's own packages
(Debian: python3-pytest); unittest needs nothing.

Each test has a label: OK, WrongAnswer where the tests say so, the class of an exception, Skipped; or, from
the test on in which the program ended, TimeoutException, UnsafeCode and what else zygo says of its end.
"testimony" counts operators of the program that decided about a plain value, such as == with a number.

Exit code: 0 all tests passed; 1 some did not, or none was run; 2 usage, or no tests that can be run;
125 zygo cannot work here; 130 interrupted.

Examples:
  zygo test bank_account_test.py bank_account.py
  zygo test tests/ src/ --strict --timeout 5s --memory 256M
  zygo test tests/ src/ --junit results.xml
  zygo test --json leap_test.py solution.py | jq '.tests[] | select(.label != "OK")'
)~";

inline constexpr const char* kDoctorExamples =
    R"~(kernel: the kernel has the layer. usable: zygo may use it here, as a short-lived child tried.
in force: it is in force at the level that would run, the best one or that of --level ("-": that
level does not use it). Below the table zygo says how to get missing layers, in the terms of the
place: a host, a container, a pod, a unit.

Exit code: 0 when the floor of isolation is met (and what --level and --require name), 1 otherwise.

Examples:
  zygo doctor
  zygo doctor --level contained
  zygo doctor --json | jq '.levels, .place'
  zygo doctor --require full,cgroup.memory
  docker run --rm --entrypoint zygo IMAGE doctor
)~";

inline constexpr const char* kSelfcheckExamples =
    R"~(The command runs some forty attempts (read, write, signal, connect, gain rights, exceed limits,
leave things behind, forge results), each in a fresh cell beside an honest job that must not notice.
held: the attempt was seen to be refused. escaped: it succeeded, or others noticed it. unclear: it
proves nothing, and counts as a failure. not promised: this level cannot refuse it.

Exit code: 0 everything that the level promises was held; 1 something escaped or is unclear;
125 zygo cannot start here (`zygo doctor` says why); 130 interrupted.

Examples:
  zygo selfcheck
  zygo selfcheck --level contained
  zygo selfcheck --template python-numpy
  zygo selfcheck --json | jq '.attempts[] | select(.standing != "held")'
)~";

inline constexpr const char* kCertifyExamples =
    R"~(The command runs a corpus at several loads, in a random order, and counts flips: jobs whose
label is not the one that the corpus says. A line of a corpus is a job with one more field, label: a
label as results have it, or a list of labels of which any is right. Without a corpus it draws
programs of Python whose labels are known, because each measures what it uses: up to 70 % of a
limit, or 150 % and more. Those between (the band) are counted apart and are no flips.
With --faults each load has a second round, in which about five processes a second (cells, holders,
templates) are killed. A job that was lost with one (SandboxError) is run again.
The interval is Wilson's, for a confidence of 95 %.

With --grader the command tries somebody's own grader: CMD FILE is run once for each case, with the
case as JSON in FILE and on stdin. It ends with 0 for a pass and 1 for a failure; where it ends with
0, a last line such as {"passed": false} or {"score": 0.5} decides. Exploits and wrong programs that
pass, and honest ones that do not, are counted. Hostile programs run inside CMD: it is enclosed in
namespaces, and what it writes or leaves running is gone afterwards.
The fields are in docs/cli.md.

Exit code: 0 no flips, or a grader that was right each time; 1 some, or it was not; 2 usage, or a
corpus cannot be read; 125 zygo cannot work here, or the memory is not enough for the load; 130
interrupted.

Examples:
  zygo certify
  zygo certify --loads 1,4 --jobs 200 --faults
  zygo certify --template python-numpy --seed 7
  echo '{"source": "[][3]", "label": "IndexError"}' > corpus.jsonl
  zygo certify corpus.jsonl --loads 4
  zygo certify --json corpus.jsonl | jq '.loads[] | [.load, .flips, .interval]'
  zygo certify --list
  zygo certify --grader 'python3 /home/me/grader.py' --jobs 150
  zygo certify --grader ./grader --only exit_zero,always_equal,plain --timeout 5s
)~";

inline constexpr const char* kReplayExamples =
    R"~(A result of a job with "record": true (zygo run --json --record, zygo batch --record) carries the
whole job and the place where it ran. The command runs that job again, under the same limits, and
compares label, exit, detail, value, output, exception, files and tests. If zygo's version, the host,
the template or the level are not the recorded ones, it says so first, and goes on (with --strict it
ends). Of a label that a limit decided only the label is compared; SandboxError, Cancelled and
BadJob are not compared. A job that differs is run once more, which tells whether it differs from
itself: then chance explains it.
A record whose digests do not match is refused, before anything is run.

Exit code: 0 all the same; 1 some differ, or were not compared; 2 usage, or the results cannot be
read, or --strict; 125 zygo cannot work here; 130 interrupted.

Examples:
  echo 'print(6 * 7)' | zygo run --json --record - > result.json && zygo replay result.json
  zygo batch --record jobs.ndjson -o results.ndjson && zygo replay results.ndjson
  zygo replay --runs 10 --quiet results.ndjson
  zygo replay --strict results.ndjson
  zygo replay --template mine --preload json results.ndjson
  zygo replay --json results.ndjson | jq '.jobs[] | select(.same | not)'
)~";

inline constexpr const char* kTopExamples =
    R"~(The command shows a service's queue, pool, outcomes, latency and last failures, refreshed every
second; of a router also its pilots, and when and why the last ones were lost. q or Ctrl-C ends it.
Elsewhere than on a terminal it prints a line for each look, with --json the service's own answers
(GET /v1/stats; as "cluster" GET /v1/pilots). A service with tokens needs one with the scope metrics.

Exit code: 0; 2 usage; 125 the service cannot be reached, or does not tell.

Examples:
  zygo top
  zygo top --once
  zygo top --url http://10.0.0.7:8000 --token-file ~/.zygo-token
  zygo top --url unix:/run/zygo/zygo.sock --every 5s
  zygo top --json --once | jq '.jobs.labels'
  zygo top --json --once --url http://ROUTER:8000 | jq '.cluster.recently_lost'
)~";

inline constexpr const char* kTemplateExamples =
    R"~(A template is an interpreter with modules imported before the first job. One more can be
defined on the command line of any command with --preload.

Examples:
  zygo template list
  zygo template list --json
  zygo template list --preload json,decimal --template mine
)~";

inline constexpr const char* kRuntimeExamples =
    R"~(A runtime is how programs of a language are compiled and run; each is also a template of the
same name. It is offered when its tools are found on the image. Each is one file of data:
languages/README.md says how to add one.

Examples:
  zygo runtime list
  zygo runtime list --json | jq -r '.[] | select(.available) | .name'
  zygo run hello.cpp
  echo 'console.log(6 * 7)' | zygo run --template javascript -
)~";

inline constexpr const char* kBlobExamples =
    R"~(A job may say {"blob": "sha256:..."} for its source or for a file, instead of carrying it. Blobs
are kept beside the images, at most 4 GiB; the least recently used one leaves first.

Examples:
  zygo blob put tests.tar.gz
  digest=$(zygo blob put big.json)
  echo '{"source": "print(len(open(\"big.json\").read()))", "files": {"big.json": {"blob": "'$digest'"}}}' | zygo batch
  zygo blob list --json
  zygo blob remove sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
)~";

inline constexpr const char* kImageExamples =
    R"~(An image is a root file system, read-only. PATH may be a tar archive of one or a directory
(debootstrap makes one), an OCI image layout or an oci-archive, or the output of docker save;
archives may be compressed. Digests are checked, nothing can leave the image's directory, and
devices, set-id bits and owners are dropped. Importing under a name that exists replaces its image.
Images are kept in $ZYGO_HOME, else /var/lib/zygo for root, else ~/.local/share/zygo.

Exit code: 0; 2 the name or the source is not usable; 125 the host cannot do it; 130 interrupted.

Examples:
  docker save python:3.12-slim -o python.tar && zygo image import python-3.12 python.tar
  podman save --format oci-archive debian:12 -o debian.tar && zygo image import debian debian.tar
  skopeo copy docker://debian:12 oci:debian && zygo image import debian debian
  debootstrap --variant=minbase stable root && zygo image import stable root
  zygo image list
  zygo image inspect --json debian | jq -r .digest
  zygo image remove debian
)~";

inline constexpr const char* kPackExamples =
    R"~(On a network disk an environment of 50,000 files starts slowly on every host. Packed it is one
file, which each host unpacks to its local disk at the first use and does not read again. Programs
see it at its original path. The files that it takes from the host's /usr (a venv its interpreter)
must be on each host; all others are packed with it. The same environment gives the same file.

Exit code: 0; 2 the environment is not usable; 125 the host cannot do it; 130 interrupted.

Examples:
  zygo image pack --venv /shared/envs/ml -o /shared/ml.tar.zst
  zygo image pack --conda /shared/conda/envs/ml -o /shared/ml.tar.zst
  zygo run --python /shared/ml.tar.zst prog.py
  zygo batch --python /shared/ml.tar.zst --preload numpy,torch jobs.ndjson -o results.ndjson
)~";

inline constexpr const char* kCompletionExamples =
    R"~(Prints a script for the shell to read. Installed packages have it where shells look by themselves.

Examples:
  source <(zygo completion bash)
  zygo completion bash > ~/.local/share/bash-completion/completions/zygo
  zygo completion zsh > ~/.zfunc/_zygo
  zygo completion fish > ~/.config/fish/completions/zygo.fish
)~";

inline constexpr const char* kManualExamples =
    R"~(Prints the manual page of zygo or of one command, as source for man; with -o writes those of all
commands, and the completions, into a folder like /usr/local/share.

Examples:
  zygo manual zygo-run | man -l -
  zygo manual -o /usr/local/share
)~";

inline constexpr const char* kInitExamples =
    R"~(Writes a small example into a new folder; nothing that exists is changed. reward: rewards for the
programs of a model; judge: a problem package; notebook: cells that run programs.

Examples:
  zygo init reward
  zygo init judge my-problem
  zygo init notebook
)~";

inline constexpr const char* kVersionExamples =
    R"~(The version of zygo; with --json also that of jobs, results and the HTTP API ("api").

Examples:
  zygo version
  zygo version --json
)~";

inline constexpr const char* kIsolateHelp =
    R"~(Usage: zygo isolate [OPTIONS] --init | --run -- PROGRAM [ARGUMENTS] | --cleanup
   or: the same behind a link to zygo that is called isolate

This is the command line of isolate(1) with zygo's cells underneath. --init makes a box, an empty
directory, and prints its path; the directory "box" in it is the program's /box, and files that the
program leaves there are there afterwards. Options that zygo cannot honour are refused by name;
docs/isolate.md has the differences.

  -b, --box-id=N          which box (0)
  -M, --meta=FILE         how it ended: time, time-wall, max-rss, cg-mem, exitcode, status, ...
  -t, --time=S            CPU time; -w, --wall-time=S; -x, --extra-time=S before it is killed
  -m, --mem=KB            address space of each process; -k, --stack=KB; -f, --fsize=KB
      --cg --cg-mem=KB    memory of all its processes
  -p, --processes[=N]     processes and threads (1); without N as many as it likes
  -n, --open-files=N      (1024); -q, --quota=KB,FILES with --init
  -i, -o, -r FILE         --stdin, --stdout, --stderr: files of the box; --stderr-to-stdout
  -c, --chdir=DIR         where it starts (/box)
  -d, --dir=IN[=OUT][:OPTIONS]  a directory of the host to read; rw: for /box and /tmp; noexec, maybe
  -E, --env=NAME[=VALUE], -e, --full-env
  -s, --silent; -v, --verbose: zygo's own label, too; --wait for a box that is in use

)~";

inline constexpr const char* kIsolateExamples =
    R"~(Exit code: 0 the program ended with 0; 1 it ended in any other way; 2 zygo failed or refused.

Examples:
  dir=$(zygo isolate --box-id=1 --init)
  cp a.out input.txt "$dir/box"
  zygo isolate -b 1 --cg --cg-mem=65536 -t 1 -w 5 -M meta -i input.txt -o out.txt --run -- ./a.out
  cat "$dir/box/out.txt"
  zygo isolate --box-id=1 --cleanup
)~";

}  // namespace cli
