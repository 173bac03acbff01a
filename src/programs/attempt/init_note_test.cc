#include "programs/attempt/init_note.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

struct StatRow {
  const char* name;
  const char* text;
  std::optional<std::uint64_t> time;
};
class StartTimeOf : public testing::TestWithParam<StatRow> {};
TEST_P(StartTimeOf, Stat) { EXPECT_EQ(StartTimeFromStat(GetParam().text), GetParam().time); }
INSTANTIATE_TEST_SUITE_P(
    Rules, StartTimeOf,
    testing::Values(
        StatRow{"plain", "12 (a) S 1 12 12 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 11 12\n", 987654},
        StatRow{"name_like_fields",
                "12 (a) S 1 2) ) R 1 12 12 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 11\n", 987654},
        StatRow{"cut", "12 (a) S 1 12 12 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0", std::nullopt},
        StatRow{"no_number", "12 (a) S 1 12 12 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 x 1 2", std::nullopt},
        StatRow{"empty", "", std::nullopt}),
    [](const auto& row) { return row.param.name; });

TEST(InitNote, IsReadAsItWasPrinted) {
  const InitNote note{.init = {.pid = 1234, .start_time = 567890, .boot_id = "b-1"},
                      .groups = {"/a/b", "/c d"}};
  EXPECT_EQ(PrintInitNote(note), "1234 567890 b-1\n/a/b\n/c d\n");
  EXPECT_EQ(ParseInitNote(PrintInitNote(note)), note);
  const InitNote preparing{.init = note.init, .preparing = true, .groups = {"/a"}};
  EXPECT_EQ(ParseInitNote(PrintInitNote(preparing)), preparing);
}

TEST(InitNote, WhatIsNoWholeNoteIsNone) {
  for (const char* text :
       {"", "\n", "1234", "1234 5 b", "1234 5\n", "x 5 b\n", "0 5 b\n", "-1 5 b\n", "12 x b\n"})
    EXPECT_EQ(ParseInitNote(text), std::nullopt) << text;
}

/// A process that sleeps until the end of the test.
class NotedProcess : public testing::Test {
 protected:
  NotedProcess() : child_(fork()) {
    if (child_ == 0) {
      for (;;) pause();
    }
  }
  ~NotedProcess() override { End(); }
  void End() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  ProcessMark Noted() {
    EXPECT_TRUE(NoteInit(dir_, child_, {"/group"}).has_value());
    const auto note = ReadInitNote(dir_);
    EXPECT_TRUE(note.has_value());
    if (!note) return {};
    EXPECT_EQ(note->groups, std::vector<std::string>{"/group"});
    return note->init;
  }

  TemporaryFolder folder_;
  AttemptDir dir_{folder_.path()};
  pid_t child_;
};

TEST_F(NotedProcess, IsOpenedWhileItLives) {
  const ProcessMark mark = Noted();
  EXPECT_EQ(mark.pid, child_);
  EXPECT_TRUE(OpenProcess(mark));
}

TEST_F(NotedProcess, IsNotOpenedAsAZombieNorAfterThat) {
  const ProcessMark mark = Noted();
  kill(child_, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(OpenProcess(mark));
  End();
  EXPECT_FALSE(OpenProcess(mark));
}

TEST_F(NotedProcess, IsNotAnotherWithItsPid) {
  ProcessMark earlier = Noted();
  --earlier.start_time;
  EXPECT_FALSE(OpenProcess(earlier));
  ProcessMark before_the_boot = Noted();
  before_the_boot.boot_id = "another";
  EXPECT_FALSE(OpenProcess(before_the_boot));
}

TEST_F(NotedProcess, OfALaterSandboxReplacesTheNote) {
  Noted();
  ASSERT_TRUE(NoteInit(dir_, getpid(), {}).has_value());
  EXPECT_EQ(ReadInitNote(dir_)->init.pid, getpid());
  EXPECT_TRUE(ReadInitNote(dir_)->groups.empty());
}

TEST_F(NotedProcess, ThatIsGoneCannotBeNoted) {
  const pid_t gone = child_;
  End();
  EXPECT_EQ(NoteInit(dir_, gone, {}).error().code, Code::kNotFound);
  EXPECT_EQ(ReadInitNote(dir_), std::nullopt);
}

}  // namespace
}  // namespace trainyard::replica
