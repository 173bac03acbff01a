#include "rules/service/doctor_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/retention/disk_marks.h"

namespace trainyard::service {
namespace {

using control::v1::Doctor;
using testing::HasSubstr;

Status Refused() { return std::unexpected(FailedPrecondition("the kernel refuses")); }

DoctorFacts Good() {
  DoctorFacts facts;
  facts.is_root = true;
  facts.cgroup_version = 2;
  facts.containers = "crun 1.8";
  facts.pythons = {"3.11"};
  facts.runtimes_ready = {"2.15"};
  facts.default_runtime = "2.15";
  facts.disk = {.folder = "/data",
                .kind = "ext4",
                .free_bytes = std::int64_t{500} << 30,
                .total_bytes = std::int64_t{900} << 30,
                .free_inodes = 1'000'000,
                .written = {},
                .write_time = std::chrono::microseconds(300)};
  facts.clock_synchronised = true;
  facts.now = SysTime(std::chrono::days(20'000));
  facts.certificate_ends = facts.now + std::chrono::days(300);
  return facts;
}

const Doctor::Row* Find(const Doctor& doctor, const std::string& what) {
  for (const Doctor::Row& row : doctor.rows()) {
    if (row.what() == what) return &row;
  }
  return nullptr;
}

TEST(JudgeMachine, AllIsWell) {
  const Doctor doctor = JudgeMachine(Good());
  EXPECT_TRUE(doctor.can_run_jobs());
  for (const Doctor::Row& row : doctor.rows()) {
    EXPECT_EQ(row.state(), Doctor::OK) << row.what() << ": " << row.detail();
    EXPECT_EQ(row.next(), "") << row.what();
    EXPECT_NE(row.detail(), "") << row.what();
  }
}

struct Row {
  const char* name;
  const char* what;
  Doctor::State state;
  bool can_run;
  void (*spoil)(DoctorFacts& facts);
};
class JudgeMachineTable : public testing::TestWithParam<Row> {};

TEST_P(JudgeMachineTable, SaysWhatIsLackingAndWhatToDo) {
  DoctorFacts facts = Good();
  GetParam().spoil(facts);
  const Doctor doctor = JudgeMachine(facts);
  const Doctor::Row* row = Find(doctor, GetParam().what);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->state(), GetParam().state) << row->detail();
  EXPECT_NE(row->next(), "");
  EXPECT_EQ(doctor.can_run_jobs(), GetParam().can_run);
  for (const Doctor::Row& other : doctor.rows())
    if (&other != row) EXPECT_EQ(other.state(), Doctor::OK) << other.what();
}

INSTANTIATE_TEST_SUITE_P(
    Rows, JudgeMachineTable,
    testing::Values(
        Row{"no_data", "data directory", Doctor::MISSING, false,
            [](auto& f) { f.data_directory = Refused(); }},
        Row{"port", "port", Doctor::WARNING, true, [](auto& f) { f.port = Refused(); }},
        Row{"namespaces", "user namespaces", Doctor::MISSING, true,
            [](auto& f) { f.user_namespaces = Refused(); }},
        Row{"networks", "networks", Doctor::MISSING, true, [](auto& f) { f.isolated_networks = Refused(); }},
        Row{"limits", "cgroups", Doctor::WARNING, true,
            [](auto& f) { f.limits_lacking = "no memory controller"; }},
        Row{"logout", "lingering", Doctor::WARNING, true,
            [](auto& f) {
              f.logout_ends_jobs = true;
              f.logout = "a logout ends jobs";
            }},
        Row{"driver", "accelerators", Doctor::WARNING, true, [](auto& f) { f.device_notes = {"NVML: no"}; }},
        Row{"containers", "containers", Doctor::MISSING, true, [](auto& f) { f.containers = ""; }},
        Row{"not_the_default", "runtimes", Doctor::WARNING, true, [](auto& f) { f.default_runtime = "9.9"; }},
        Row{"no_python", "runtimes", Doctor::MISSING, true, [](auto& f) { f.runtimes_ready = {}; }},
        Row{"full", "disk space", Doctor::MISSING, false,
            [](auto& f) { f.disk.free_bytes = retention::kRefuseBelowDefault - 1; }},
        Row{"nearly_full", "disk space", Doctor::WARNING, true,
            [](auto& f) { f.disk.free_bytes = retention::kRefuseBelowDefault; }},
        Row{"inodes", "disk files", Doctor::MISSING, false, [](auto& f) { f.disk.free_inodes = 1; }},
        Row{"nfs", "file system", Doctor::WARNING, true, [](auto& f) { f.disk.kind = "nfs"; }},
        Row{"read_only", "disk writes", Doctor::MISSING, false, [](auto& f) { f.disk.written = Refused(); }},
        Row{"slow", "disk writes", Doctor::WARNING, true,
            [](auto& f) { f.disk.write_time = std::chrono::milliseconds(100); }},
        Row{"clock", "clock", Doctor::WARNING, true, [](auto& f) { f.clock_synchronised = false; }},
        Row{"certificate_ends", "certificate", Doctor::WARNING, true,
            [](auto& f) { f.certificate_ends = f.now + std::chrono::days(3); }},
        Row{"certificate_ended", "certificate", Doctor::WARNING, true,
            [](auto& f) { f.certificate_ends = f.now - std::chrono::days(3); }}),
    [](const auto& row) { return row.param.name; });

TEST(JudgeMachine, WithoutPythonAndContainersNothingRuns) {
  DoctorFacts facts = Good();
  facts.runtimes_ready = {};
  facts.containers = "";
  EXPECT_FALSE(JudgeMachine(facts).can_run_jobs());
}

TEST(JudgeMachine, ARunningServerIsNamed) {
  DoctorFacts facts = Good();
  facts.server_url = "http://127.0.0.1:8470";
  EXPECT_THAT(Find(JudgeMachine(facts), "port")->detail(), HasSubstr("http://127.0.0.1:8470"));
}

}  // namespace
}  // namespace trainyard::service
