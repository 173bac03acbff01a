#include "replica/keeper/keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/process/child_process.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "replica/keeper/testing/keeper_client.h"

namespace trainyard::keeper {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::chrono::seconds kEndMax{20};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reading.Reset(ends[0]);
    writing.Reset(ends[1]);
  }
  /// Everything that was written, once nothing can write any more.
  std::string ReadAll() {
    writing.Reset();
    std::string text;
    std::array<char, 256> buffer{};
    for (ssize_t size = 1; size > 0;) {
      size = read(reading.get(), buffer.data(), buffer.size());
      if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
  }
  std::string ReadLine() const {
    std::string line;
    for (char byte = 0; read(reading.get(), &byte, 1) == 1 && byte != '\n';) line += byte;
    return line;
  }
  UniqueFd reading;
  UniqueFd writing;
};

bool HasEnded(const UniqueFd& pidfd) {
  pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(kEndMax).count())) > 0;
}

/// The keepers are forked children of this test that execute no other program.
class KeeperTest : public testing::Test {
 protected:
  ~KeeperTest() override {
    for (const UniqueFd& one : started_) syscall(SYS_pidfd_send_signal, one.get(), SIGKILL, nullptr, 0);
    for (const UniqueFd& one : started_) EXPECT_TRUE(HasEnded(one));
  }
  [[nodiscard]] std::string socket() const { return folder_.path() + "/keeper.sock"; }

  /// `group`: directory of the cgroup in which it starts.
  ChildProcess StartKeeper(KeeperOptions options = {}, int group = -1) {
    const Pipe ready;
    std::fflush(nullptr);  // supervisors that the keeper forks would print what waits here once more
    const pid_t pid = ForkInGroup(group);
    if (pid == 0) {
      std::ofstream("/proc/self/oom_score_adj") << 100;
      options.socket = socket();
      // The programs of these tests are shells; the requests that a keeper accepts are in
      // supervisor_rules_test.cc.
      if (!options.admit && !only_supervisors_) options.admit = [](StartRequest request) { return request; };
      auto keeper = Keeper::Open(std::move(options));
      if (!keeper || write(ready.writing.get(), "\n", 1) != 1) _exit(7);
      close(ready.writing.get());
      _exit((*keeper)->Run() ? 0 : 1);
    }
    const_cast<Pipe&>(ready).writing.Reset();
    auto child = ChildProcess::Adopt(pid);
    EXPECT_TRUE(child);
    ready.ReadLine();
    return *std::move(child);
  }

  static StartRequest Shell(const std::string& script, const std::string& name = "one") {
    StartRequest request;
    request.set_name(name);
    request.set_program(fs::canonical("/bin/sh").string());
    for (const std::string& word : {std::string("sh"), std::string("-c"), script})
      request.add_arguments(word);
    for (const char* line : {"PATH=/usr/bin:/bin", "WORD=given"}) request.add_environment(line);
    request.add_numbers(1);
    return request;
  }
  Result<Answer> Start(KeeperClient& client, const StartRequest& request, const Pipe& output) {
    const int descriptor = output.writing.get();
    auto answer = client.Ask(request, std::span(&descriptor, 1));
    if (UniqueFd pidfd = client.TakeDescriptor()) started_.push_back(std::move(pidfd));
    return answer;
  }
  static LimitsRequest Limits(const std::string& installation) {
    LimitsRequest request;
    request.set_installation(installation);
    return request;
  }
  static Hello Versions(std::uint32_t min, std::uint32_t max) {
    Hello hello;
    hello.set_version_min(min);
    hello.set_version_max(max);
    return hello;
  }
  static bool IsStarted(const Result<Answer>& answer) { return answer && answer->has_started(); }
  static void EndAndExpect(ChildProcess& keeper, int code) {
    EXPECT_TRUE(keeper.Kill(SIGTERM));
    EXPECT_EQ(keeper.WaitFor(kEndMax), (ExitStatus{.code = code}));
  }

  TemporaryFolder folder_;
  std::vector<UniqueFd> started_;
  bool only_supervisors_ = false;
};

TEST_F(KeeperTest, StartsAProgramWithWhatItIsGivenAndNothingElse) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe output;
  const auto answer =
      Start(client, Shell("echo $WORD $NOTIFY_SOCKET; cat /proc/self/oom_score_adj; ls /proc/$$/fd"), output);
  ASSERT_TRUE(IsStarted(answer));
  EXPECT_EQ(output.ReadAll(), "given\n0\n0\n1\n2\n");
  ASSERT_EQ(started_.size(), 1U);
  EXPECT_TRUE(HasEnded(started_[0]));
  EndAndExpect(keeper, 0);
  EXPECT_FALSE(fs::exists(socket()));
}

int SayWords(int argc, char** argv) {
  const std::string text = std::string(argv[0]) + " of " + std::to_string(argc) + " is forked\n";
  return WriteAll(STDOUT_FILENO, text) ? 0 : 1;
}

TEST_F(KeeperTest, ForksItsOwnProgramAndExecutesAnother) {
  ChildProcess keeper = StartKeeper({.supervisor_main = SayWords});
  KeeperClient client(socket());
  StartRequest request = Shell("echo executed");
  Pipe other;
  ASSERT_TRUE(IsStarted(Start(client, request, other)));
  EXPECT_EQ(other.ReadAll(), "executed\n") << "as after an upgrade of the program";
  request.set_program(fs::canonical("/proc/self/exe").string());
  request.set_name("two");
  Pipe own;
  ASSERT_TRUE(IsStarted(Start(client, request, own)));
  EXPECT_EQ(own.ReadAll(), "-c of 2 is forked\n");
}

TEST_F(KeeperTest, AnswersHelloWithTheHighestVersionOfBoth) {
  ChildProcess keeper = StartKeeper();
  KeeperClient later(socket(), false);
  const auto answer = later.Ask(Versions(1, 9));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->hello().version(), 1U);
  EXPECT_EQ(KeeperClient(socket()).hello()->hello().instance(), answer->hello().instance());
  KeeperClient too_new(socket(), false);
  EXPECT_EQ(RefusalOf(too_new.Ask(Versions(2, 3))), Code::kUnimplemented);
  EXPECT_FALSE(too_new.Receive());
}

TEST_F(KeeperTest, RefusesADoubledStart) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe first;
  Pipe second;
  ASSERT_TRUE(IsStarted(Start(client, Shell("exec sleep 1000"), first)));
  EXPECT_EQ(RefusalOf(Start(client, Shell("echo twice"), second)), Code::kAlreadyExists);
  EXPECT_EQ(second.ReadAll(), "");
  syscall(SYS_pidfd_send_signal, started_[0].get(), SIGKILL, nullptr, 0);
  ASSERT_TRUE(HasEnded(started_[0]));
  Pipe third;
  EXPECT_TRUE(IsStarted(Start(client, Shell("echo again"), third)));
  EXPECT_EQ(third.ReadAll(), "again\n");
}

TEST_F(KeeperTest, SurvivesWhoeverSpeaksNonsense) {
  ChildProcess keeper = StartKeeper();
  for (const std::string& bytes : {std::string("\1"), std::string("GET / HTTP/1.1\r\n\r\n"),
                                   AsRequest(Limits("a")).SerializeAsString(), std::string(3, '\0')}) {
    KeeperClient hostile(socket(), false);
    ASSERT_TRUE(hostile.Send(bytes));
    EXPECT_FALSE(hostile.Receive()) << "who does not greet is not answered";
  }
  KeeperClient client(socket());
  ASSERT_TRUE(client.Send("\x7A\x05later"));
  EXPECT_EQ(RefusalOf(client.Receive()), Code::kUnimplemented);
  ASSERT_TRUE(client.Send(AsRequest(Shell("true")).SerializeAsString().substr(0, 20)));
  EXPECT_EQ(RefusalOf(client.Receive()), Code::kInvalidArgument);
  EXPECT_EQ(RefusalOf(client.Ask(Greeting())), Code::kInvalidArgument);
  EXPECT_EQ(RefusalOf(client.Ask(Limits("../x"))), Code::kInvalidArgument);
  StartRequest request = Shell("true");
  EXPECT_EQ(RefusalOf(client.Ask(request)), Code::kInvalidArgument) << "a number without a descriptor";
  request.set_name("a/b");
  EXPECT_EQ(RefusalOf(client.Ask(request)), Code::kInvalidArgument);
  Pipe output;
  EXPECT_TRUE(IsStarted(Start(client, Shell("echo still here"), output)));
  EXPECT_EQ(output.ReadAll(), "still here\n");
}

TEST_F(KeeperTest, ClosesDescriptorsThatNobodyAskedFor) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe left;
  const std::array<int, 3> several = {left.writing.get(), left.writing.get(), left.writing.get()};
  EXPECT_EQ(RefusalOf(client.Ask(Shell("true"), several)), Code::kInvalidArgument);
  EXPECT_EQ(left.ReadAll(), "") << "returns once nobody has it open";
}

TEST_F(KeeperTest, AnswersOnlyWhoMaySpeak) {
  ChildProcess keeper = StartKeeper({.may_speak = [](uid_t) { return false; }});
  EXPECT_FALSE(KeeperClient(socket()).hello());
  EXPECT_EQ(fs::status(socket()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(KeeperTest, StartsNothingButItsOwnProgramAsASupervisor) {
  only_supervisors_ = true;
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe output;
  EXPECT_EQ(RefusalOf(Start(client, Shell("echo started"), output)), Code::kPermissionDenied);
  StartRequest own = Shell("");
  own.set_program(fs::canonical("/proc/self/exe").string());
  own.clear_arguments();
  for (const char* word : {"trainyard", "--gtest_list_tests"}) own.add_arguments(word);
  EXPECT_EQ(RefusalOf(Start(client, own, output)), Code::kPermissionDenied);
  EXPECT_EQ(output.ReadAll(), "");
}

TEST_F(KeeperTest, AnswersOnlyTheServersUnit) {
  ChildProcess keeper = StartKeeper({.server_unit = "not-ours.service"});
  EXPECT_FALSE(KeeperClient(socket()).hello());
}

TEST_F(KeeperTest, AnswersNobodyInAJobsPidNamespace) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes one without a user namespace";
  ChildProcess keeper = StartKeeper();
  const auto child =
      static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) _exit(KeeperClient(socket()).hello() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "it was answered";
  EXPECT_TRUE(KeeperClient(socket()).hello());
}

TEST_F(KeeperTest, DropsWhoSaysNothing) {
  ChildProcess keeper = StartKeeper({.client_silence_max = std::chrono::milliseconds(50)});
  KeeperClient silent(socket(), false);
  EXPECT_EQ(silent.Receive().error().code, Code::kUnavailable);
  KeeperClient greeted(socket());
  ASSERT_TRUE(greeted.hello());
  EXPECT_EQ(greeted.Receive().error().code, Code::kUnavailable) << "who has said hello, too";
}

TEST_F(KeeperTest, ManySilentClientsShutNobodyOut) {
  ChildProcess keeper = StartKeeper({.client_silence_max = std::chrono::hours(1)});
  std::vector<std::unique_ptr<KeeperClient>> silent;
  for (std::size_t i = 0; i < kClientsMax; ++i) {
    silent.push_back(std::make_unique<KeeperClient>(socket()));
    ASSERT_TRUE(silent.back()->hello());
  }
  KeeperClient client(socket());
  EXPECT_TRUE(client.hello());
  EXPECT_FALSE(silent.front()->Receive()) << "it made room";
}

TEST_F(KeeperTest, ExecutesOnlyProgramsThatNobodyElseCanChange) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  const std::string program = folder_.path() + "/program";
  fs::copy_file("/bin/true", program);
  chmod(program.c_str(), 0777);
  Pipe output;
  for (const std::string& path :
       {program, folder_.path(), std::string("/nonexistent"), std::string("bin/sh")}) {
    StartRequest request = Shell("true");
    request.set_program(path);
    const auto answer = Start(client, request, output);
    EXPECT_NE(RefusalOf(answer), Code::kUnknown) << path;
  }
  chmod(program.c_str(), 0755);
  StartRequest request = Shell("true");
  request.set_program(program);
  EXPECT_TRUE(IsStarted(Start(client, request, output)));
}

TEST_F(KeeperTest, StartsNothingForWhoHasHungUp) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  ASSERT_TRUE(client.hello());
  ASSERT_TRUE(keeper.Kill(SIGSTOP));
  Pipe output;
  const int descriptor = output.writing.get();
  ASSERT_TRUE(client.Send(AsRequest(Shell("echo too late")).SerializeAsString(), std::span(&descriptor, 1)));
  client.HangUp();
  ASSERT_TRUE(keeper.Kill(SIGCONT));
  EXPECT_EQ(output.ReadAll(), "");
}

TEST_F(KeeperTest, OneListensAtASocket) {
  ChildProcess keeper = StartKeeper();
  EXPECT_EQ(Keeper::Open({.socket = socket()}).error().code, Code::kAlreadyExists);
  EXPECT_TRUE(KeeperClient(socket()).hello());
}

TEST_F(KeeperTest, ToldToEndItTellsItsSupervisorsAndWaitsForThem) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe output;
  ASSERT_TRUE(IsStarted(
      Start(client, Shell("trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.01; done"), output)));
  EXPECT_EQ(output.ReadLine(), "up");
  EndAndExpect(keeper, 0);
  EXPECT_EQ(output.ReadAll(), "told\n");
  EXPECT_TRUE(HasEnded(started_[0]));
}

TEST_F(KeeperTest, WhatDoesNotEndInTimeIsKilledAndNothingNewStarts) {
  ChildProcess keeper = StartKeeper({.stop_max = std::chrono::milliseconds(300)});
  KeeperClient client(socket());
  Pipe output;
  ASSERT_TRUE(IsStarted(
      Start(client, Shell("trap 'echo told' TERM; echo up; while :; do sleep 0.01; done"), output)));
  EXPECT_EQ(output.ReadLine(), "up");
  ASSERT_TRUE(keeper.Kill(SIGTERM));
  EXPECT_EQ(output.ReadLine(), "told");
  Pipe second;
  EXPECT_EQ(RefusalOf(Start(client, Shell("echo late", "two"), second)), Code::kUnavailable);
  EXPECT_EQ(keeper.WaitFor(kEndMax), ExitStatus{});
  EXPECT_TRUE(HasEnded(started_[0]));
}

TEST_F(KeeperTest, KilledItLeavesThemAloneAndTheNextOneStartsOthers) {
  ChildProcess keeper = StartKeeper();
  KeeperClient client(socket());
  Pipe output;
  ASSERT_TRUE(IsStarted(Start(client, Shell("echo up; exec sleep 1000"), output)));
  EXPECT_EQ(output.ReadLine(), "up");
  ASSERT_TRUE(keeper.Kill(SIGKILL));
  ASSERT_TRUE(keeper.WaitFor(kEndMax));
  EXPECT_FALSE(KeeperClient(socket()).hello());
  pollfd alive{.fd = started_[0].get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&alive, 1, 0), 0);
  ChildProcess next = StartKeeper();
  KeeperClient again(socket());
  EXPECT_NE(again.hello()->hello().instance(), client.hello()->hello().instance()) << "another instance";
  Pipe second;
  EXPECT_TRUE(IsStarted(Start(again, Shell("echo new", "two"), second)));
  EXPECT_EQ(second.ReadAll(), "new\n");
}

/// A group like the one that systemd gives to a unit with Delegate=yes.
class DelegatedKeeperTest : public KeeperTest {
 protected:
  void SetUp() override {
    const auto view = replica::CgroupView::Own();
    ASSERT_TRUE(view);
    const std::string own = replica::FindCgroup(view->membership, view->mounts, "-").path;
    unit_ = own + "/trainyard-keeper-test-" + std::to_string(getpid());
    if (own.empty() || mkdir(unit_.c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup of version 2 can be made";
    made_ = true;
    if (setxattr(unit_.c_str(), "trusted.delegate", "1", 1, 0) != 0 &&
        setxattr(unit_.c_str(), "user.delegate", "1", 1, 0) != 0)
      GTEST_SKIP() << "groups here have no attributes";
    directory_ = *OpenFile(unit_, O_RDONLY | O_DIRECTORY);
  }
  void TearDown() override {
    if (!made_) return;
    EXPECT_TRUE(replica::KillGroup(unit_, kEndMax));
    directory_.Reset();
    for (const auto& group : fs::directory_iterator(unit_)) {
      if (group.is_directory()) replica::RemoveGroup(group.path());
    }
    replica::RemoveGroup(unit_);
  }
  [[nodiscard]] bool HasGroup(const std::string& name) const { return fs::exists(unit_ + "/" + name); }

  std::string unit_;
  bool made_ = false;
  UniqueFd directory_;
};

TEST_F(DelegatedKeeperTest, EachHasAGroupBesideTheKeeper) {
  ChildProcess keeper = StartKeeper({}, directory_.get());
  KeeperClient client(socket());
  Pipe output;
  ASSERT_TRUE(IsStarted(Start(client, Shell("cat /proc/self/cgroup; (setsid sleep 1000 &)"), output)));
  const std::string group = "/trainyard-keeper-test-" + std::to_string(getpid()) + "/supervisor-one\n";
  std::string membership;
  while (!membership.ends_with(group)) {
    const std::string line = output.ReadLine();
    ASSERT_NE(line, "");
    membership = line + "\n";
  }
  ASSERT_TRUE(HasEnded(started_[0]));
  Pipe second;
  EXPECT_EQ(RefusalOf(Start(client, Shell("echo twice"), second)), Code::kAlreadyExists)
      << "something of the first one is alive";
  EndAndExpect(keeper, 0);
  EXPECT_EQ(output.ReadAll(), "") << "nothing of it is left";
}

TEST_F(DelegatedKeeperTest, TheNextKeeperTakesOverWhatItsGroupsTellOf) {
  ChildProcess keeper = StartKeeper({}, directory_.get());
  KeeperClient client(socket());
  Pipe output;
  const std::string script =
      "trap 'echo told; exit 0' TERM; (trap 'echo child told' TERM; while :; do sleep 0.01; done) & echo up; "
      "while :; do sleep 0.01; done";
  ASSERT_TRUE(IsStarted(Start(client, Shell(script), output)));
  EXPECT_EQ(output.ReadLine(), "up");
  ASSERT_TRUE(keeper.Kill(SIGKILL));
  ASSERT_TRUE(keeper.WaitFor(kEndMax));
  ChildProcess next = StartKeeper({}, directory_.get());
  KeeperClient again(socket());
  Pipe second;
  EXPECT_EQ(RefusalOf(Start(again, Shell("echo twice"), second)), Code::kAlreadyExists);
  EndAndExpect(next, 0);
  EXPECT_EQ(output.ReadAll(), "told\n") << "the supervisor alone is told; what it leaves is killed";
  EXPECT_TRUE(HasEnded(started_[0]));
}

}  // namespace
}  // namespace trainyard::keeper
