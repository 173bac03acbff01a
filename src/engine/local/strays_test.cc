#include "engine/local/strays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/async/file.h"
#include "engine/testing/local_host_world.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::engine {
namespace {

namespace fs = std::filesystem;

/// One kind of damage to the directory of a living attempt.
struct Damage {
  const char* name;
  std::function<void(const replica::AttemptDir&)> strike;
};

class StraysTest : public LocalHostWorld, public testing::WithParamInterface<Damage> {
 protected:
  AttemptState Inspect() { return loop_.Run(host_->Inspect(ref())).state; }
};

TEST_P(StraysTest, AnAttemptLivesAlthoughItsFilesAreGone) {
  StartServer();
  Program("echo up; exec sleep 1000");
  ASSERT_TRUE(loop_.Run(host_->Start(Order(), slot())));
  OpenBarrier();
  ASSERT_TRUE(WaitForLine("up"));
  const pid_t supervisor = *replica::LockHolder(dir_);
  const std::vector<pid_t> processes = replica::Descendants(supervisor);
  ASSERT_FALSE(processes.empty());
  ASSERT_EQ(kill(supervisor, SIGSTOP), 0) << "it must not see what happens to its directory";
  GetParam().strike(dir_);
  Restart();
  std::vector<std::string> gone;
  host_->SetOnGone([&gone](const std::string& attempt_id) { gone.push_back(attempt_id); });
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  EXPECT_EQ(loop_.Run(host_->Collect(ref(), 0)).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(loop_.Run(host_->Forget(ref())).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  ASSERT_TRUE(loop_.Run(host_->Kill(ref())));
  EXPECT_THAT(Inspect(), testing::AnyOf(AttemptState::kAbsent, AttemptState::kLost));
  for (const pid_t pid : processes)  // a zombie has no command line any more
    EXPECT_EQ(ReadFile("/proc/" + std::to_string(pid) + "/cmdline").value_or(""), "") << pid;
  EXPECT_TRUE(loop_.RunUntil([&gone] { return !gone.empty(); }));
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())));
  EXPECT_EQ(Inspect(), AttemptState::kAbsent);
}

void ReplaceByCopy(const fs::path& file) {
  const fs::path copy = file.string() + ".copy";
  fs::copy_file(file, copy);
  fs::rename(copy, file);
}

INSTANTIATE_TEST_SUITE_P(
    Damages, StraysTest,
    testing::Values(Damage{"directory_removed", [](const auto& dir) { fs::remove_all(dir.path); }},
                    Damage{"directory_moved",
                           [](const auto& dir) { fs::rename(dir.path, dir.path + ".away"); }},
                    Damage{"directory_replaced_by_a_file",
                           [](const auto& dir) {
                             fs::remove_all(dir.path);
                             std::ofstream(dir.path) << "a file";
                           }},
                    Damage{"all_attempts_removed",
                           [](const auto& dir) { fs::remove_all(fs::path(dir.path).parent_path()); }},
                    Damage{"lock_removed", [](const auto& dir) { fs::remove(dir.Lock()); }},
                    Damage{"lock_replaced_by_a_copy", [](const auto& dir) { ReplaceByCopy(dir.Lock()); }},
                    Damage{"lock_replaced_by_an_empty_file",
                           [](const auto& dir) {
                             fs::remove(dir.Lock());
                             std::ofstream(dir.Lock()) << "";
                           }},
                    Damage{"manifest_removed", [](const auto& dir) { fs::remove(dir.Manifest()); }},
                    Damage{"init_note_removed", [](const auto& dir) { fs::remove(dir.Init()); }},
                    Damage{"exit_damaged", [](const auto& dir) { std::ofstream(dir.Exit()) << "garbage"; }}),
    [](const auto& row) { return row.param.name; });

TEST_F(LocalHostWorld, OfAnAttemptThatNeverWasNothingIsFound) {
  const auto strays = FindStrays(dir_);
  ASSERT_TRUE(strays);
  EXPECT_TRUE(strays->holders.empty());
  EXPECT_TRUE(strays->members.empty());
  EXPECT_FALSE(IsHeld(dir_).value());
}

}  // namespace
}  // namespace trainyard::engine
