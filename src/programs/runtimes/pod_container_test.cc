#include "programs/runtimes/pod_container.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/async/unix_socket.h"
#include "base/process/kernel_calls.h"
#include "programs/runtimes/inside/pod_frames.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

int WithCode(int code) { return W_EXITCODE(code, 0); }
int BySignal(int signal) { return W_EXITCODE(0, signal); }
std::vector<std::string> InShell(const std::string& script) { return {"sh", "-c", script}; }

ContainerEnd EndedWith(int wait_status) { return {.wait_status = wait_status}; }
ContainerEnd NotRunBecause(const std::string& why) {
  return {.wait_status = WithCode(125), .failure = "the container's program cannot be run: " + why};
}

std::string ReadToEnd(int file) {
  std::string all;
  std::array<char, 4096> bytes{};
  for (ssize_t size = 0; (size = read(file, bytes.data(), bytes.size())) > 0;)
    all.append(bytes.data(), static_cast<std::size_t>(size));
  return all;
}

/// Reads until the text has come, or there is no more.
std::string ReadUntil(int file, const std::string& text) {
  std::string all;
  for (char byte = 0; all.find(text) == std::string::npos && read(file, &byte, 1) == 1;) all.push_back(byte);
  return all;
}

/// A child process that runs RunInPod, with a pipe (or a terminal) as its output.
class Runner {
 public:
  explicit Runner(const PodRun& run, const std::string& terminal = "") {
    auto output = MakePipe();
    auto end = MakePipe();
    const sigset_t stop = SignalSet({SIGTERM});
    sigprocmask(SIG_BLOCK, &stop, nullptr);  // as a sandbox's function is started
    pid_ = fork();
    if (pid_ == 0) {
      UseStreams(output->write.get(), terminal);
      const ContainerEnd ended = RunInPod(run);
      std::ostringstream text;
      text << ended.wait_status << ' ' << ended.out_of_memory << ' ' << ended.lost << ' ' << ended.failure;
      static_cast<void>(WriteAll(end->write.get(), text.str()));
      _exit(0);
    }
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    output_ = std::move(output->read);
    end_ = std::move(end->read);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    if (pid_ > 0) Kill();
  }

  [[nodiscard]] int output() const { return output_.get(); }
  void Await(const std::string& text) const { EXPECT_THAT(ReadUntil(output(), text), HasSubstr(text)); }
  void Stop() const { kill(pid_, SIGTERM); }
  void Kill() {
    kill(pid_, SIGKILL);
    WaitForChild(std::exchange(pid_, -1));
  }
  /// Waits until the process has ended, with its streams closed.
  ContainerEnd End() {
    std::istringstream text(ReadToEnd(end_.get()));
    WaitForChild(std::exchange(pid_, -1));
    ContainerEnd ended;
    text >> ended.wait_status >> ended.out_of_memory >> ended.lost;
    text.get();
    std::getline(text, ended.failure);
    return ended;
  }
  /// Whether no process has the output open.
  [[nodiscard]] bool HasOutputEnded() const {
    pollfd ready{.fd = output(), .events = 0};
    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLHUP) != 0;
  }

 private:
  static void UseStreams(int output, const std::string& terminal) {
    const int input = open(terminal.empty() ? "/dev/null" : terminal.c_str(), O_RDWR | O_NOCTTY);
    if (!terminal.empty() && setsid() > 0) ioctl(input, TIOCSCTTY, 0);
    dup2(input, STDIN_FILENO);
    dup2(terminal.empty() ? output : input, STDOUT_FILENO);
    dup2(terminal.empty() ? output : input, STDERR_FILENO);
    if (input > STDERR_FILENO) close(input);
    close(output);
  }

  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd end_;
};

/// The starter is not process 1 here, and kills what it has started in other ways then.
class PodContainer : public testing::Test {
 protected:
  PodContainer() { static_cast<void>(WritePodStarter(Path("starter"))); }
  ~PodContainer() override {
    if (starter_ < 0) return;
    kill(starter_, SIGTERM);
    EXPECT_EQ(WaitForChild(starter_), 0) << "it ends as soon as there are no programs";
  }

  void SetUp() override {
    ASSERT_EQ(mkfifo(Path("gate").c_str(), 0600), 0);
    StartStarter();
    if (starter_ < 0) GTEST_SKIP() << "no PID namespaces";
    while (!fs::exists(Path("socket"))) ASSERT_EQ(waitpid(starter_, nullptr, WNOHANG), 0);
  }
  virtual pid_t Fork() { return fork(); }
  void StartStarter() {
    std::string program = Path("starter");
    std::string socket = Path("socket");
    std::string own = "WHOSE=image";
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin:" + folder_.path();
    const std::array<char*, 3> argv = {program.data(), socket.data(), nullptr};
    const std::array<char*, 3> variables = {own.data(), path.data(), nullptr};
    starter_ = Fork();
    if (starter_ == 0) {
      execve(program.c_str(), argv.data(), variables.data());
      _exit(99);
    }
  }

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] PodRun Of(std::vector<std::string> argv) const {
    return {.socket = Path("socket"), .argv = std::move(argv), .environment = {}};
  }
  [[nodiscard]] PodRun WholeOf(std::vector<std::string> argv) const {
    PodRun run = Of(std::move(argv));
    run.whole = true;
    return run;
  }
  /// A program that ends when OpenGate is called.
  [[nodiscard]] PodRun OfWaiting() const { return Of(InShell("echo ready; read x < " + Path("gate"))); }
  void OpenGate() const { std::ofstream(Path("gate")) << "go\n"; }
  void Write(const std::string& name, const std::string& content, mode_t mode = 0755) const {
    std::ofstream(Path(name)) << content;
    chmod(Path(name).c_str(), mode);
  }
  ContainerEnd Run(const PodRun& run) const { return Runner(run).End(); }

  /// A connection that sends what RunInPod never would. The starter may refuse it before it is complete.
  [[nodiscard]] UniqueFd SendRaw(const pod::StartRequest& request, const std::string& strings,
                                 std::size_t descriptors) const {
    auto connection = ConnectUnix(Path("socket"));
    EXPECT_TRUE(connection);
    const std::vector<int> streams(std::max<std::size_t>(descriptors, 1), STDERR_FILENO);
    iovec part{.iov_base = const_cast<pod::StartRequest*>(&request), .iov_len = sizeof(request)};
    std::vector<char> room(CMSG_SPACE(streams.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptors > 0) {
      message.msg_control = room.data();
      message.msg_controllen = room.size();
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
      std::memcpy(CMSG_DATA(header), streams.data(), descriptors * sizeof(int));
    }
    static_cast<void>(sendmsg(connection->get(), &message, MSG_NOSIGNAL));
    static_cast<void>(send(connection->get(), strings.data(), strings.size(), MSG_NOSIGNAL));
    return *std::move(connection);
  }
  static pod::StarterEvent TakeEvent(const UniqueFd& connection) {
    pod::StarterEvent event{};
    EXPECT_EQ(recv(connection.get(), &event, sizeof(event), MSG_WAITALL), ssize_t{sizeof(event)});
    return event;
  }
  /// The errno and the step of the starter's answer.
  static std::pair<int, pod::Step> Refusal(const UniqueFd& connection) {
    const pod::StarterEvent event = TakeEvent(connection);
    EXPECT_EQ(event.kind, pod::Kind::kFailed);
    return {event.value, static_cast<pod::Step>(event.detail)};
  }

  TemporaryFolder folder_;
  pid_t starter_ = -1;
};

TEST_F(PodContainer, RunsAProgramOnTheStreamsThatItPasses) {
  Runner runner(Of(InShell("echo out; echo err >&2; read line || exit 7")));
  EXPECT_EQ(runner.End(), EndedWith(WithCode(7)));
  EXPECT_EQ(ReadToEnd(runner.output()), "out\nerr\n");
  EXPECT_EQ(Run(Of({"true"})), EndedWith(0));
  EXPECT_EQ(Run(WholeOf({"/bin/true"})), EndedWith(0));
}

TEST_F(PodContainer, GivesAProgramNoOtherDescriptors) {
  Runner runner(Of(InShell("ls /proc/self/fd")));
  EXPECT_EQ(runner.End(), EndedWith(0));
  EXPECT_EQ(ReadToEnd(runner.output()), "0\n1\n2\n3\n");  // ls opens 3 itself
}

TEST_F(PodContainer, ReportsSignals) {
  EXPECT_EQ(Run(Of(InShell("kill -SEGV $$"))), EndedWith(BySignal(SIGSEGV)));
  EXPECT_EQ(Run(WholeOf(InShell("kill -KILL $$"))), EndedWith(BySignal(SIGKILL)));
}

TEST_F(PodContainer, SetsVariablesOverTheContainersOwn) {
  PodRun run = Of(InShell("echo $WHOSE $ADDED $EMPTY-"));
  run.environment = {"ADDED=a=b", "EMPTY="};
  Runner with_own(run);
  EXPECT_EQ(with_own.End(), EndedWith(0));
  EXPECT_EQ(ReadToEnd(with_own.output()), "image a=b -\n");
  run.environment.emplace_back("WHOSE=job");
  Runner replaced(run);
  EXPECT_EQ(replaced.End(), EndedWith(0));
  EXPECT_EQ(ReadToEnd(replaced.output()), "job a=b -\n");
}

TEST_F(PodContainer, LooksTheProgramUpInThePathThatIsSet) {
  fs::create_directories(Path("bin"));
  Write("bin/train", "#!/bin/sh\nexit 5\n");
  EXPECT_EQ(Run(Of({"train"})), NotRunBecause("train: the image has no such file"));
  PodRun run = Of({"train"});
  run.environment = {"PATH=/no:" + Path("bin")};
  EXPECT_EQ(Run(run), EndedWith(WithCode(5)));
}

TEST_F(PodContainer, StartsInTheDirectory) {
  PodRun run = Of({"pwd"});
  run.directory = RealPath(folder_.path());
  Runner runner(run);
  EXPECT_EQ(runner.End(), EndedWith(0));
  EXPECT_EQ(ReadToEnd(runner.output()), run.directory + "\n");
  run.directory = "/no/such";
  EXPECT_EQ(Run(run), NotRunBecause("its directory /no/such: No such file or directory"));
}

TEST_F(PodContainer, SaysWhyAProgramCannotBeRun) {
  Write("data", "#!/bin/sh\n", 0644);
  Write("words", "echo hello\n");
  Write("windows", "#!/bin/sh\r\nexit 0\r\n");
  Write("python", "#!/no/python\n");
  std::string other("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x16\0", 20);
  other.resize(64);
  Write("other", other);
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"/no/such", "the image has no such file"},
      {"data", "it is not executable"},
      {Path("data"), "it is not executable"},
      {folder_.path(), "it is a folder"},
      {"words", "it is neither a program nor a script with a #! line"},
      {Path("windows"), "its #! line ends in a carriage return: the script was written on Windows"},
      {"python", "it needs /no/python, which the image does not have"},
      {Path("other"), "it is built for another kind of machine (s390x)"}};
  for (const auto& [program, why] : rows)
    EXPECT_EQ(Run(WholeOf({program})), NotRunBecause(program + ": " + why));
  EXPECT_EQ(Run(Of({""})), NotRunBecause("its arguments or variables are malformed: Bad message"));
  EXPECT_EQ(Run(Of({"true", std::string(pod::kStringsMax, 'x')})),
            NotRunBecause("its arguments and variables have more than 4 MiB"));
  EXPECT_THAT(Run(Of({"true", std::string(pod::kStringsMax - 100, 'x')})).failure,
              EndsWith("true: Argument list too long"));
}

TEST_F(PodContainer, SendsTheStopSignalToTheProgramsGroup) {
  PodRun run = WholeOf(InShell("trap 'exit 5' USR1; sleep 600 & echo ready; wait"));
  run.stop_signal = SIGUSR1;
  Runner runner(run);
  runner.Await("ready");
  runner.Stop();
  EXPECT_EQ(runner.End(), EndedWith(WithCode(5)));
  EXPECT_TRUE(runner.HasOutputEnded());
}

TEST_F(PodContainer, SendsAnEarlyStopSignalToo) {
  Runner runner(Of({"sleep", "600"}));
  runner.Stop();
  EXPECT_EQ(runner.End(), EndedWith(BySignal(SIGTERM)));
}

TEST_F(PodContainer, WithoutAStarterAStopEndsTheWait) {
  PodRun run = Of({"true"});
  run.socket = Path("nobody");
  Runner runner(run);
  runner.Stop();
  EXPECT_EQ(runner.End(), EndedWith(BySignal(SIGTERM)));
}

TEST_F(PodContainer, WaitsForTheStarter) {
  kill(starter_, SIGKILL);
  WaitForChild(starter_);
  fs::remove(Path("socket"));
  Runner early(Of(InShell("exit 3")));
  StartStarter();
  EXPECT_EQ(early.End(), EndedWith(WithCode(3)));
  kill(starter_, SIGKILL);
  WaitForChild(starter_);
  Runner refused(Of(InShell("exit 4")));  // the socket of the killed one is still there
  StartStarter();
  EXPECT_EQ(refused.End(), EndedWith(WithCode(4)));
}

TEST_F(PodContainer, TheEndOfAnotherProgramLeavesTheRest) {
  Runner runner(Of(InShell("(setsid sh -c 'read x < " + Path("gate") + "; echo later' &); exit 3")));
  EXPECT_EQ(runner.End(), EndedWith(WithCode(3)));
  EXPECT_FALSE(runner.HasOutputEnded());
  OpenGate();
  EXPECT_EQ(ReadToEnd(runner.output()), "later\n");
}

TEST_F(PodContainer, AnotherProgramHasTheMainProgramsVariables) {
  PodRun main = OfWaiting();
  main.whole = true;
  main.environment = {"WHOSE=job", "TASK=master"};
  Runner runner(main);
  runner.Await("ready");
  PodRun shell = Of(InShell("echo $WHOSE $TASK"));
  shell.environment = {"WHOSE=shell"};
  Runner other(shell);
  EXPECT_EQ(other.End(), EndedWith(0));
  EXPECT_EQ(ReadToEnd(other.output()), "shell master\n");
  OpenGate();
  EXPECT_EQ(runner.End(), EndedWith(0));
}

TEST_F(PodContainer, ThePeersEndEndsAnotherProgramWithItsGroup) {
  Runner other(OfWaiting());
  other.Await("ready");
  Runner runner(Of(InShell("sleep 600 & echo ready; sleep 600")));
  runner.Await("ready\n");
  runner.Kill();
  EXPECT_EQ(ReadToEnd(runner.output()), "");
  OpenGate();
  EXPECT_EQ(other.End(), EndedWith(0));
}

/// With `true`, the starter is process 1 of its own PID namespace, as in a pod.
class PodContainerEnds : public PodContainer, public testing::WithParamInterface<bool> {
 protected:
  pid_t Fork() override {
    if (!GetParam()) return fork();
    const auto clone = [](unsigned long flags) {
      return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
    };
    const pid_t child = clone(CLONE_NEWPID);
    return child < 0 ? clone(CLONE_NEWPID | CLONE_NEWUSER) : child;
  }
};

TEST_P(PodContainerEnds, TheEndOfAMainProgramEndsEverything) {
  Runner shell(OfWaiting());
  shell.Await("ready");
  Runner program(WholeOf(InShell("(setsid sh -c 'sleep 600 & sleep 600' &); echo ready; exit 3")));
  program.Await("ready");
  EXPECT_EQ(program.End(), EndedWith(WithCode(3)));
  EXPECT_TRUE(program.HasOutputEnded()) << "it is reported when no other process is alive";
  EXPECT_EQ(shell.End(), EndedWith(BySignal(SIGKILL)));
}

TEST_P(PodContainerEnds, ThePeersEndEndsAMainProgramWithItsOrphans) {
  Runner runner(WholeOf(InShell("(setsid sh -c 'echo orphan; sleep 600 & sleep 600' &); sleep 600")));
  runner.Await("orphan\n");
  runner.Kill();
  EXPECT_EQ(ReadToEnd(runner.output()), "") << "it ends when all of them are dead";
  EXPECT_EQ(Run(WholeOf({"true"})), EndedWith(0));
}

INSTANTIATE_TEST_SUITE_P(Process, PodContainerEnds, testing::Bool(),
                         [](const auto& row) { return row.param ? "One" : "Other"; });

TEST_F(PodContainer, ATerminalIsTheSessionsOwn) {
  const UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master && grantpt(master.get()) == 0 && unlockpt(master.get()) == 0);
  const std::string name = ptsname(master.get());
  Runner plain(OfWaiting());
  plain.Await("ready");
  PodRun run = Of(InShell(": < /dev/tty && test -t 0 && echo ready && exec sleep 600"));
  run.terminal = true;
  Runner shell(run, name);
  EXPECT_THAT(ReadUntil(master.get(), "ready"), HasSubstr("ready"));
  ASSERT_EQ(write(master.get(), "\x03", 1), 1);  // Ctrl-C
  EXPECT_EQ(shell.End(), EndedWith(BySignal(SIGINT)));
  OpenGate();
  EXPECT_EQ(plain.End(), EndedWith(0));
}

TEST_F(PodContainer, WithoutATerminalNoneIsGiven) {
  PodRun run = Of({"true"});
  run.terminal = true;
  EXPECT_EQ(Run(run), NotRunBecause("it gets no terminal: Inappropriate ioctl for device"));
}

TEST_F(PodContainer, AStoppedPodWaitsForItsPrograms) {
  Runner runner(OfWaiting());
  runner.Await("ready");
  kill(starter_, SIGQUIT);  // kubelet sends the signal that the image names
  EXPECT_EQ(Run(Of({"true"})), EndedWith(0));
  OpenGate();
  EXPECT_EQ(runner.End(), EndedWith(0));
  EXPECT_EQ(WaitForChild(std::exchange(starter_, -1), -1), 0);
}

TEST_F(PodContainer, SaysThatTheContainerHasEnded) {
  Runner runner(OfWaiting());
  runner.Await("ready");
  EXPECT_EQ(Run(Of({"true"})), EndedWith(0));  // the starter has seen that the first one runs
  kill(starter_, SIGKILL);
  WaitForChild(std::exchange(starter_, -1));
  const ContainerEnd lost{.wait_status = WithCode(125),
                          .lost = true,
                          .failure = "The pod's container has ended while the program ran in it."};
  EXPECT_EQ(runner.End(), lost);
  OpenGate();
}

TEST_F(PodContainer, RefusesMalformedRequests) {
  const std::string strings("\0true\0A=b\0", 10);
  const pod::StartRequest good{.size = 10, .arguments = 1, .variables = 1};
  const auto refusal = [&](pod::StartRequest request, const std::string& sent, std::size_t descriptors = 3) {
    return Refusal(SendRaw(request, sent, descriptors));
  };
  const std::pair malformed{EBADMSG, pod::Step::kRequest};
  pod::StartRequest request = good;
  request.magic = 1;
  EXPECT_EQ(refusal(request, strings), malformed);
  EXPECT_EQ(refusal(good, strings, 0), malformed);
  EXPECT_EQ(refusal(good, strings, 2), malformed);
  EXPECT_EQ(refusal(good, strings, 4), malformed);
  EXPECT_EQ(refusal(good, strings, 100), malformed);
  EXPECT_EQ(refusal(good, std::string(10, 'x')), malformed) << "no string has an end";
  EXPECT_EQ(refusal(good, std::string("\0true\0Ab\0\0", 10)), malformed) << "a variable without =";
  for (const auto& [arguments, variables] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 2}, {1, 0}, {1, 2}, {3, 0}, {~0U, 1}, {1, ~0U}, {~0U, ~0U}}) {
    request = {.size = 10, .arguments = arguments, .variables = variables};
    EXPECT_EQ(refusal(request, strings), malformed) << arguments << " " << variables;
  }
  request = {.size = 0, .arguments = 1};
  EXPECT_EQ(refusal(request, ""), malformed);
  for (const std::uint32_t size : {pod::kStringsMax + 1, ~0U}) {
    request = {.size = size, .arguments = 1};
    EXPECT_EQ(refusal(request, strings), std::pair(E2BIG, pod::Step::kRequest));
  }
  static_cast<void>(SendRaw(good, "half", 3));  // and closes it
  EXPECT_EQ(Run(Of({"true"})), EndedWith(0));
}

TEST_F(PodContainer, LimitsConnections) {
  std::vector<UniqueFd> idle;
  for (std::size_t i = 0; i < pod::kSessionsMax; ++i) {
    auto connection = ConnectUnix(Path("socket"));
    ASSERT_TRUE(connection);
    idle.push_back(*std::move(connection));
  }
  EXPECT_EQ(Run(Of({"true"})), NotRunBecause("64 programs run in the container already"));
  idle.clear();
  const pod::StartRequest sleep{.size = 11, .arguments = 2};
  std::vector<UniqueFd> busy;
  for (std::size_t i = 0; i < pod::kSessionsMax; ++i) {
    busy.push_back(SendRaw(sleep, std::string("\0sleep\000600\0", 11), pod::kDescriptors));
    EXPECT_EQ(TakeEvent(busy.back()).kind, pod::Kind::kStarted);
  }
  EXPECT_EQ(Refusal(SendRaw(sleep, "", pod::kDescriptors)), std::pair(EAGAIN, pod::Step::kSessions));
  for (const UniqueFd& connection : busy) {
    const pod::StarterSignal stop{.number = SIGTERM};
    EXPECT_EQ(send(connection.get(), &stop, sizeof(stop), 0), ssize_t{sizeof(stop)});
    EXPECT_EQ(TakeEvent(connection).value, BySignal(SIGTERM));
  }
  EXPECT_EQ(Run(Of({"true"})), EndedWith(0));
}

TEST_F(PodContainer, ItsGroupMayConnect) {
  struct stat found{};
  ASSERT_EQ(stat(Path("socket").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, mode_t{0660});
  EXPECT_FALSE(fs::exists(Path("socket.new")));
  ASSERT_EQ(stat(Path("starter").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, mode_t{0755});
  EXPECT_EQ(WEXITSTATUS(std::system((Path("starter") + " 2>&-").c_str())), 64);
}

}  // namespace
}  // namespace trainyard::replica
