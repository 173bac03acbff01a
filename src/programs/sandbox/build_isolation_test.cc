#include "programs/sandbox/build_isolation.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/async/file.h"
#include "programs/environment/build_room.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using environment::BuildRoom;
using environment::Layout;
using environment::PreparationHooks;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Tools of a build, in the best isolation that this machine has.
class BuildIsolationTest : public testing::Test {
 protected:
  BuildIsolationTest() {
    fs::create_directories(layer_);
    std::ofstream(data_ / "secret") << "secret";
    ::setenv("LEAKED_FROM_SERVER", "yes", 1);
    ::unsetenv("PIP_CONFIG_FILE");
    if (!isolation_.Lacks().empty()) std::fprintf(stderr, "%s\n", isolation_.Lacks().c_str());
  }

  /// The lines that a shell prints.
  std::vector<std::string> Shell(const std::string& script) {
    std::vector<std::string> lines;
    const auto room =
        BuildRoom::Open({.layout = layout_, .hooks = hooks_, .folder = layer_, .lock = lock_.get()});
    EXPECT_TRUE(room);
    end_ = *(*room)->Run(
        {"/bin/sh", "-c", script}, [&](std::string_view line) { lines.emplace_back(line); },
        [&](std::string_view line) { lines.push_back("E " + std::string(line)); });
    EXPECT_TRUE((*room)->TakeBack());
    return lines;
  }

  environment::TemporaryFolder folder_;
  fs::path data_ = fs::canonical(folder_.path());
  Layout layout_{data_ / "environments"};
  fs::path layer_ = layout_.root / "layers" / "1";
  BuildIsolation isolation_{FindIsolation(true), {data_.string()}};
  PreparationHooks hooks_{.info = [](std::string_view) {},
                          .error = [](std::string_view) {},
                          .download = {},
                          .isolation = &isolation_};
  UniqueFd lock_;
  ToolEnd end_;
};

TEST_F(BuildIsolationTest, KeepsWhatIsWrittenIntoTheLayer) {
  EXPECT_THAT(Shell("umask 0; echo 1 > " + layer_.string() + "/a; chmod 4777 " + layer_.string() + "/a"),
              IsEmpty());
  EXPECT_EQ(ReadFile(layer_ / "a"), "1\n");
  struct stat status{};
  ASSERT_EQ(::lstat((layer_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, ::geteuid());
  EXPECT_EQ(status.st_mode & 07777, 0755U);
  EXPECT_FALSE(fs::exists(layer_.string() + ".build"));
}

TEST_F(BuildIsolationTest, SeesNothingElseOfTheDataDirectory) {
  EXPECT_THAT(Shell("ls " + data_.string() + " " + layout_.root.string() + "; echo x > " + data_.string() +
                    "/x || true"),
              testing::Contains("environments"));
  EXPECT_THAT(Shell("cat " + data_.string() + "/secret 2>/dev/null || echo none"), ElementsAre("none"));
  EXPECT_FALSE(fs::exists(data_ / "x"));
}

TEST_F(BuildIsolationTest, HasNoRightsAndNoVariablesOfOurs) {
  EXPECT_THAT(Shell("grep -E '^(Cap(Eff|Prm|Bnd)|NoNewPrivs)' /proc/self/status | tr '\\t' ' '; "
                    "env | grep LEAKED || true; id -u | grep -x 0 || echo nobody; cd; pwd"),
              ElementsAre("CapPrm: 0000000000000000", "CapEff: 0000000000000000",
                          testing::StartsWith("CapBnd: "), "NoNewPrivs: 1", "nobody", "/tmp/home"));
}

TEST_F(BuildIsolationTest, CannotChangeTheMachine) {
  EXPECT_THAT(Shell("for folder in / /etc /usr/bin /usr/lib /var /root /home; do "
                    "touch $folder/trainyard-poison 2>/dev/null && echo $folder; done; "
                    "test -e /etc/shadow && echo shadow; ls /run 2>/dev/null; true"),
              IsEmpty());
}

TEST_F(BuildIsolationTest, EndsWhatItLeavesBehind) {
  lock_ = *OpenFile(data_ / "lock", O_RDWR | O_CREAT);
  ASSERT_EQ(::flock(lock_.get(), LOCK_EX), 0);
  EXPECT_THAT(Shell("setsid sleep 600 >/dev/null 2>&1 & ls -l /proc/self/fd | grep -c lock || true"),
              ElementsAre("0"));
  lock_.Reset();
  const auto again = OpenFile(data_ / "lock", O_RDWR);
  EXPECT_EQ(::flock(again->get(), LOCK_EX | LOCK_NB), 0) << "somebody still holds it";
}

TEST_F(BuildIsolationTest, SaysHowAToolEnded) {
  static_cast<void>(Shell("exit 3"));
  EXPECT_EQ(end_.exit_code, 3);
  static_cast<void>(Shell("kill -TERM $$"));
  EXPECT_EQ(end_.signal, SIGTERM);
}

TEST_F(BuildIsolationTest, SaysWhatCannotBeRun) {
  const auto room = BuildRoom::Open({.layout = layout_, .hooks = hooks_, .folder = layer_, .lock = -1});
  ASSERT_TRUE(room);
  const auto end = (*room)->Run({"/nonexistent/tool"}, {}, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 127);
  EXPECT_THAT(end->tail, ElementsAre(HasSubstr("cannot run /nonexistent/tool: No such file")));
}

TEST_F(BuildIsolationTest, StopsWhenAsked) {
  std::stop_source stop;
  hooks_.stop = stop.get_token();
  const auto room = BuildRoom::Open({.layout = layout_, .hooks = hooks_, .folder = layer_, .lock = -1});
  ASSERT_TRUE(room);
  const auto end = (*room)->Run({"/bin/sh", "-c", "echo up; exec sleep 600"},
                                [&](std::string_view) { stop.request_stop(); }, {});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace trainyard::replica
