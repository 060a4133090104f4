// Tests of how a pilot finds its slot, with environments, ads and control groups as real engines
// give them (Slurm 22.05 and 23.11, HTCondor 23.9, Kubernetes 1.29; v1 and v2).
#include "cluster/engines/slot.h"

#include <catch2/catch.hpp>

#include "cluster/engines/class_ad.h"

namespace cluster {
namespace {

const GroupTexts kFreeV1{
    .cfs_quota_us = "-1\n", .cfs_period_us = "100000\n", .memory_limit = "9223372036854771712\n"};
const GroupTexts kFreeV2{.cpu_max = "max 100000\n", .memory_limit = "max\n"};

SlotSources on_host(Environment environment, unsigned affinity = 64) {
  return {.environment = std::move(environment),
          .groups = {kFreeV2},
          .affinity = affinity,
          .host = "node7",
          .pid = 4242};
}

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

// sbatch --ntasks=1 --cpus-per-task=2 --mem=3G, in the batch script.
const Environment kBatch = {{"SLURM_JOB_ID", "17"},
                            {"SLURM_JOBID", "17"},
                            {"SLURM_PROCID", "0"},
                            {"SLURM_NODEID", "0"},
                            {"SLURM_CPUS_PER_TASK", "2"},
                            {"SLURM_CPUS_ON_NODE", "2"},
                            {"SLURM_MEM_PER_NODE", "3072"},
                            {"SLURM_TASKS_PER_NODE", "1"},
                            {"PATH", "/opt/slurm/bin:/usr/bin"}};

// srun -n5 over two nodes with three and two tasks, in the fourth task.
const Environment kStep = {{"SLURM_JOB_ID", "17"},       {"SLURM_STEP_ID", "2"},
                           {"SLURM_PROCID", "3"},        {"SLURM_NODEID", "1"},
                           {"SLURM_CPUS_ON_NODE", "6"},  {"SLURM_STEP_TASKS_PER_NODE", "3,2"},
                           {"SLURM_MEM_PER_CPU", "1000"}};

SlotSources in_condor(std::string job_ad, std::string machine_ad) {
  SlotSources sources =
      on_host({{"_CONDOR_SLOT", "slot1_3"},
               {"_CONDOR_SCRATCH_DIR", "/var/lib/condor/execute/dir_812"},
               {"_CONDOR_JOB_AD", "/var/lib/condor/execute/dir_812/.job.ad"},
               {"_CONDOR_MACHINE_AD", "/var/lib/condor/execute/dir_812/.machine.ad"}});
  sources.job_ad = std::move(job_ad);
  sources.machine_ad = std::move(machine_ad);
  return sources;
}

const std::string kJobAd =
    "ClusterId = 12\nProcId = 3\nRequestCpus = 2\n"
    "RequestMemory = ifthenelse(MemoryUsage =!= undefined,MemoryUsage,( ImageSize + 1023 ) / "
    "1024)\n"
    "JobCurrentStartDate = 1764194400\nJobLeaseDuration = 2400\nOwner = \"ada\"\n"
    "PeriodicRemove = false\n";
const std::string kMachineAd = "Name = \"slot1_3@node7\"\nCpus = 4\nMemory = 2048\nDisk = 100\n";

EpochTime at(int64_t seconds) { return EpochTime(std::chrono::seconds(seconds)); }

}  // namespace

TEST_CASE("a process that no engine started has the host for its slot", "[cluster][slot]") {
  const Slot slot = find_slot(on_host({{"PATH", "/usr/bin"}}));

  CHECK(slot.engine == Engine::kNone);
  CHECK(slot.name == "node7-4242");
  CHECK(slot.cpus == 64);
  CHECK_FALSE(slot.memory);
  CHECK_FALSE(slot.end);
  CHECK(slot.ask_end.empty());
}

TEST_CASE("a batch script of Slurm has what its job asked for", "[cluster][slot]") {
  const Slot slot = find_slot(on_host(kBatch));

  CHECK(slot.engine == Engine::kSlurm);
  CHECK(slot.name == "slurm-17");
  CHECK(slot.cpus == 2);
  CHECK(slot.memory == sys::mebibytes(3072));
}

TEST_CASE("a task of a Slurm step has its part of the node, not all of it", "[cluster][slot]") {
  const Slot slot = find_slot(on_host(kStep));

  CHECK(slot.name == "slurm-17-2.3");
  CHECK(slot.cpus == 3);  // six for the two tasks of the second node
  CHECK(slot.memory == sys::mebibytes(3000));
  const Slot first = find_slot(on_host(with(kStep, {{"SLURM_NODEID", "0"}})));
  CHECK(first.cpus == 2);  // six for three
  const Environment repeated =
      with(kStep, {{"SLURM_STEP_TASKS_PER_NODE", "1(x2),6"}, {"SLURM_NODEID", "2"}});
  CHECK(find_slot(on_host(repeated)).cpus == 1);
}

TEST_CASE("an element of a Slurm array is called by the array's number", "[cluster][slot]") {
  const Environment element = with(
      kBatch, {{"SLURM_ARRAY_JOB_ID", "17"}, {"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_JOB_ID", "19"}});

  CHECK(find_slot(on_host(element)).name == "slurm-17_2");
}

TEST_CASE("a step number that means the batch script is no step", "[cluster][slot]") {
  CHECK(find_slot(on_host(with(kBatch, {{"SLURM_STEP_ID", "4294967291"}}))).name == "slurm-17");
}

TEST_CASE("a Slurm job with all memory of its node states no limit", "[cluster][slot]") {
  CHECK_FALSE(find_slot(on_host(with(kBatch, {{"SLURM_MEM_PER_NODE", "0"}}))).memory);
}

TEST_CASE("the end of a Slurm job is in its environment", "[cluster][slot]") {
  const Slot slot = find_slot(on_host(with(kBatch, {{"SLURM_JOB_END_TIME", "1764198000"}})));

  CHECK(slot.end == at(1764198000));
  CHECK(slot.ask_end.empty());
}

TEST_CASE("a Slurm that does not tell the end of the job is asked", "[cluster][slot]") {
  const Slot slot = find_slot(on_host(kBatch));

  CHECK_FALSE(slot.end);
  CHECK(slot.ask_end == std::vector<std::string>{"/usr/bin/env", "SLURM_TIME_FORMAT=%s",
                                                 "PATH=/opt/slurm/bin:/usr/bin", "timeout", "10",
                                                 "squeue", "-h", "-o", "%e", "-j", "17"});
}

TEST_CASE("the end is read as squeue writes it", "[cluster][slot]") {
  CHECK(end_in_answer("1764198000\n") == at(1764198000));
  for (const char* none : {"", "\n", "NONE\n", "N/A\n", "Unknown\n", "2026-11-26T2", "-5"}) {
    CHECK_FALSE(end_in_answer(none));
  }
  const auto local = end_in_answer("2026-11-26T22:30:00\n");
  REQUIRE(local);
  const auto hour_later = end_in_answer("2026-11-26T23:30:00\n");
  REQUIRE(hour_later);
  CHECK(*hour_later - *local == std::chrono::hours(1));
}

TEST_CASE("a job of HTCondor has the slot that its machine ad describes", "[cluster][slot]") {
  const Slot slot = find_slot(in_condor(kJobAd, kMachineAd));

  CHECK(slot.engine == Engine::kHtcondor);
  CHECK(slot.name == "condor-12.3");
  CHECK(slot.cpus == 4);
  CHECK(slot.memory == sys::mebibytes(2048));
  CHECK_FALSE(slot.end);  // a lease is renewed, and no limit was set
}

TEST_CASE("without a machine ad the job's request counts, unless it is an expression",
          "[cluster][slot]") {
  const Slot slot = find_slot(in_condor(kJobAd, ""));

  CHECK(slot.cpus == 2);
  CHECK_FALSE(slot.memory);
  CHECK(find_slot(in_condor("", "")).name == "condor-node7-slot1_3");
}

TEST_CASE("the limits on an HTCondor job's time are its end, the earliest first",
          "[cluster][slot]") {
  const std::string limited = kJobAd + "AllowedJobDuration = 3600\n";
  CHECK(find_slot(in_condor(limited, kMachineAd)).end == at(1764194400 + 3600));
  const std::string both = limited + "AllowedExecuteDuration = 1800\n";
  CHECK(find_slot(in_condor(both, kMachineAd)).end == at(1764194400 + 1800));
  const std::string begun = both + "JobCurrentStartExecutingDate = 1764194500\n";
  CHECK(find_slot(in_condor(begun, kMachineAd)).end == at(1764194500 + 1800));
  const std::string glidein = kMachineAd + "GLIDEIN_ToDie = 1764195000\n";
  CHECK(find_slot(in_condor(both, glidein)).end == at(1764195000));
}

TEST_CASE("a pod is called by its name, and its limits are the group's", "[cluster][slot]") {
  SlotSources sources = on_host({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  sources.groups = {{.cpu_max = "400000 100000\n", .memory_limit = "4294967296\n"}, kFreeV2};

  const Slot slot = find_slot(sources);

  CHECK(slot.engine == Engine::kKubernetes);
  CHECK(slot.name == "node7");  // the host name of a pod is the pod's
  CHECK(slot.cpus == 4);
  CHECK(slot.memory == sys::mebibytes(4096));
  sources.environment["POD_NAME"] = "zygo-pilot-5d9c-xk2v";
  CHECK(find_slot(sources).name == "zygo-pilot-5d9c-xk2v");
}

TEST_CASE("the least of all limits counts, whoever sets it", "[cluster][slot]") {
  SlotSources sources = on_host(kBatch);
  sources.groups = {
      kFreeV1,
      {.cfs_quota_us = "150000\n", .cfs_period_us = "100000\n", .memory_limit = "1073741824\n"}};
  const Slot by_group = find_slot(sources);
  CHECK(by_group.cpus == 1);  // one and a half is one
  CHECK(by_group.memory == sys::mebibytes(1024));

  CHECK(find_slot(on_host(kBatch, 1)).cpus == 1);  // by the CPU mask
  sources.groups = {{.cpu_max = "50000 100000", .memory_limit = "8589934592"}};
  const Slot half = find_slot(sources);
  CHECK(half.cpus == 1);                       // never none
  CHECK(half.memory == sys::mebibytes(3072));  // by the job
}

TEST_CASE("a group without limits limits nothing, in the words of v1 and of v2",
          "[cluster][slot]") {
  for (const GroupTexts& free : {kFreeV1, kFreeV2}) {
    SlotSources sources = on_host({});
    sources.groups = {free};
    CHECK(find_slot(sources).cpus == 64);
    CHECK_FALSE(find_slot(sources).memory);
  }
}

TEST_CASE("an engine inside a pod is asked before Kubernetes", "[cluster][slot]") {
  CHECK(find_slot(on_host(with(kBatch, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}))).engine ==
        Engine::kSlurm);
}

TEST_CASE("a pilot's name has no character that means something elsewhere", "[cluster][slot]") {
  CHECK(find_slot(on_host({{"SLURM_JOB_ID", "1\"\n;/"}})).name == "slurm-1----");
}

TEST_CASE("figures that are no figures limit nothing", "[cluster][slot]") {
  const Environment odd = {{"SLURM_JOB_ID", "17"},
                           {"SLURM_CPUS_ON_NODE", "many"},
                           {"SLURM_MEM_PER_NODE", "-4"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_TASKS_PER_NODE", ",(x,"},
                           {"SLURM_JOB_END_TIME", "soon"}};
  const Slot slot = find_slot(on_host(odd, 3));

  CHECK(slot.cpus == 3);
  CHECK_FALSE(slot.memory);
  CHECK_FALSE(slot.end);
  CHECK_FALSE(slot.ask_end.empty());
}

TEST_CASE("this process has a slot with a name and a core at least", "[cluster][slot]") {
  const SlotSources sources = read_slot_sources();
  const Slot slot = find_slot(sources);

  CHECK_FALSE(slot.name.empty());
  CHECK(slot.cpus >= 1);
  CHECK(slot.cpus <= sources.affinity);
}

TEST_CASE("names of engines are read as they are written", "[cluster][slot]") {
  for (const char* name : {"none", "slurm", "htcondor", "kubernetes", "ssh"}) {
    REQUIRE(engine_of(name));
    CHECK(name_of(*engine_of(name)) == name);
  }
  CHECK_FALSE(engine_of("pbs"));
}

TEST_CASE("an ad gives its numbers and strings, whatever the case of their names",
          "[cluster][slot]") {
  const ClassAd ad("Cpus = 4\nname = \"slot1@a\"\nStart = true\nX=7\nCpus2 = 1 + 1\nno line\n=\n");

  CHECK(ad.number("CPUS") == 4);
  CHECK(ad.number("x") == 7);
  CHECK(ad.string("Name") == "slot1@a");
  CHECK_FALSE(ad.number("Cpus2"));
  CHECK_FALSE(ad.number("Name"));
  CHECK_FALSE(ad.string("Start"));
}

}  // namespace cluster
