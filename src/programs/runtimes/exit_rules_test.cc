#include "programs/runtimes/exit_rules.h"

#include <gtest/gtest.h>

#include <csignal>

namespace trainyard::replica {
namespace {

constexpr int Exited(int code) { return code << 8; }

struct Row {
  const char* name;
  ObservedEnd end;
  const char* expected;  ///< "CAUSE|code|signal|message"
};
class Decides : public testing::TestWithParam<Row> {};
TEST_P(Decides, Exit) {
  const v1::ExitRecord exit = DecideExit(GetParam().end);
  EXPECT_EQ(v1::ExitRecord::Cause_Name(exit.cause()) + "|" + std::to_string(exit.exit_code()) + "|" +
                std::to_string(exit.signal()) + "|" + exit.message(),
            GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Decides,
    testing::Values(
        Row{"success", {.reported = true}, "EXITED|0|0|"},
        Row{"failure", {.reported = true, .wait_status = Exited(3)}, "EXITED|3|0|"},
        Row{"signal",
            {.reported = true, .wait_status = SIGSEGV},
            "SIGNALED|0|11|the replica's process was killed by SIGSEGV"},
        Row{"core",
            {.reported = true, .wait_status = SIGABRT | 0x80},
            "SIGNALED|0|6|the replica's process was killed by SIGABRT"},
        Row{"all_killed", {}, "SIGNALED|0|9|the replica's process was killed by SIGKILL"},
        Row{"stopped",
            {.reported = true, .wait_status = SIGTERM, .stop_requested = true, .stop_reason = "cancelled"},
            "STOPPED|0|15|cancelled"},
        Row{"stopped_wins_over_memory",
            {.reported = true, .wait_status = SIGKILL, .stop_requested = true, .oom_kills = 1},
            "STOPPED|0|9|"},
        Row{"memory",
            {.reported = true,
             .wait_status = SIGKILL,
             .oom_kills = 1,
             .memory_bytes = 60 << 20,
             .memory_peak_bytes = (60 << 20) - 100'000},
            "OUT_OF_MEMORY|0|9|the replica's processes used more than the 60 MiB that they are allowed (peak "
            "59.9 MiB); the "
            "kernel killed one"},
        Row{"memory_without_a_peak",
            {.reported = true, .wait_status = SIGKILL, .oom_kills = 1, .memory_bytes = 64 << 20},
            "OUT_OF_MEMORY|0|9|the replica's processes used more than the 64 MiB that they are allowed; the "
            "kernel killed "
            "one"},
        Row{"memory_of_a_child",
            {.reported = true, .wait_status = Exited(1), .oom_kills = 1},
            "OUT_OF_MEMORY|1|0|the machine ran out of memory and the kernel killed one of the replica's "
            "processes"},
        Row{"machine_below_the_limit",
            {.reported = true,
             .wait_status = SIGKILL,
             .oom_kills = 1,
             .memory_bytes = 1 << 30,
             .memory_peak_bytes = 100 << 20},
            "OUT_OF_MEMORY|0|9|the machine ran out of memory and the kernel killed one of the replica's "
            "processes "
            "(peak 100 MiB)"},
        Row{"killed_where_nothing_counts",
            {.reported = true, .wait_status = SIGKILL, .counts_oom_kills = false},
            "SIGNALED|0|9|the replica's process was killed by SIGKILL"},
        Row{"shut_down",
            {.reported = true,
             .wait_status = SIGTERM,
             .stop_requested = true,
             .shut_down = true,
             .stop_reason = "the system asked"},
            "SHUT_DOWN|0|15|the system asked"},
        Row{"done_while_it_was_shut_down",
            {.reported = true, .stop_requested = true, .shut_down = true, .stop_reason = "the system asked"},
            "EXITED|0|0|"},
        Row{"done_while_it_was_stopped",
            {.reported = true, .stop_requested = true, .stop_reason = "cancelled"},
            "STOPPED|0|0|cancelled"},
        Row{"killed_in_a_container_by_somebody_else",
            {.reported = true, .wait_status = Exited(137)},
            "EXITED|137|0|"},
        Row{"not_run",
            {.reported = true, .wait_status = Exited(125), .failure = "there is no /x in the image"},
            "PREPARATION_FAILED|1|0|there is no /x in the image"},
        Row{"engine_gone",
            {.reported = true, .wait_status = Exited(125), .failure = "its engine went away", .lost = true},
            "LOST|1|0|its engine went away"},
        Row{"stopped_before_it_ran",
            {.reported = true, .wait_status = Exited(125), .stop_requested = true, .failure = "gone"},
            "STOPPED|125|0|"},
        Row{"survived_the_killer", {.reported = true, .oom_kills = 1}, "EXITED|0|0|"}),
    [](const auto& row) { return row.param.name; });

TEST(KilledWorkerWarning, IsForAProgramThatSucceededAllTheSame) {
  ObservedEnd end{.reported = true, .oom_kills = 1, .memory_bytes = 64 << 20, .memory_peak_bytes = 64 << 20};
  EXPECT_EQ(
      KilledWorkerWarning(end, DecideExit(end)),
      "The program ended with status 0, although a process of it was killed: the replica's processes used "
      "more than the 64 MiB that they are allowed (peak 64 MiB); the kernel killed one. Its results may be "
      "incomplete.");
  end.counts_oom_kills = false;
  EXPECT_EQ(KilledWorkerWarning(end, DecideExit(end)), "");
  end.counts_oom_kills = true;
  end.wait_status = Exited(1);
  EXPECT_EQ(KilledWorkerWarning(end, DecideExit(end)), "") << "its diagnosis says it";
  EXPECT_EQ(KilledWorkerWarning({.reported = true}, DecideExit({.reported = true})), "");
}

TEST(DecideExit, SaysThatProcessesWereRefusedToAProgramThatFailed) {
  const ObservedEnd failed{
      .reported = true, .wait_status = Exited(1), .processes_limit = 100, .processes_refused = 3};
  EXPECT_TRUE(DecideExit(failed).processes_refused());
  EXPECT_EQ(DecideExit(failed).processes_limit(), 100);
  ObservedEnd succeeded = failed;
  succeeded.wait_status = 0;
  EXPECT_FALSE(DecideExit(succeeded).processes_refused());
  EXPECT_EQ(DecideExit(succeeded).processes_limit(), 100);
}

TEST(Explain, KnowsWhatTheOperatorGaveForTheTpu) {
  const auto name = [](const v1::Devices& devices) {
    v1::Manifest manifest;
    *manifest.mutable_devices() = devices;
    v1::ExitRecord exit = DecideExit({.reported = true, .wait_status = Exited(1)});
    Explain(manifest, {{"ValueError: Please provide a TPU Name to connect to.", true}}, exit);
    return exit.diagnosis().name();
  };
  v1::Devices devices;
  EXPECT_EQ(name(devices), "tpu_not_requested");
  devices.set_accelerator_type("TPU_V2");
  devices.set_waiver(v1::Devices::WITHOUT);
  EXPECT_EQ(name(devices), "tpu_waived");
  devices.set_waiver(v1::Devices::CPU_FOR_TPU);
  EXPECT_EQ(name(devices), "tpu_not_found");
  devices.set_accelerator_type("NVIDIA_TESLA_K80");
  devices.set_waiver(v1::Devices::WITHOUT);
  EXPECT_EQ(name(devices), "tpu_not_requested");
}

TEST(Explain, NamesWhatTheKernelCounted) {
  const auto name = [](const ObservedEnd& end) {
    v1::ExitRecord exit = DecideExit(end);
    Explain({}, {}, exit, {.counts_oom_kills = end.counts_oom_kills});
    return exit.diagnosis().name();
  };
  EXPECT_EQ(name({.reported = true, .wait_status = SIGKILL}), "killed");
  EXPECT_EQ(name({.reported = true, .wait_status = SIGKILL, .counts_oom_kills = false}),
            "killed_unexplained");
  EXPECT_EQ(name({.reported = true, .wait_status = SIGKILL, .oom_kills = 1}), "machine_out_of_memory");
  EXPECT_EQ(name({.reported = true, .wait_status = Exited(1), .processes_limit = 9, .processes_refused = 1}),
            "process_limit");
  EXPECT_EQ(name({.reported = true, .wait_status = SIGTERM, .stop_requested = true, .shut_down = true}),
            "machine_shutdown");
}

}  // namespace
}  // namespace trainyard::replica
