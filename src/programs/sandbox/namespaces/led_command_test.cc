#include "programs/sandbox/namespaces/led_command.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/async/unique_fd.h"
#include "base/process/variables.h"
#include "programs/sandbox/namespaces/namespace_check.h"

namespace trainyard::replica {
namespace {

constexpr std::uint16_t kNobodys = 1;
constexpr int kDeadlineMs = 60'000;

int RunScript(const std::string& script, std::vector<ConnectDoor> doors = {}) {
  const Result<int> status = RunLedCommand({.argv = {"bash", "-c", script},
                                            .environment = OwnVariables(),
                                            .doors = std::move(doors),
                                            .gains_nothing = true});
  EXPECT_TRUE(status) << status.error().message;
  return status.value_or(-1);
}

int RunProgram(const std::string& program) {
  return RunLedCommand({.argv = {program}, .environment = OwnVariables()}).value_or(-1);
}

TEST(RunLedCommand, MakesNoConnectionThatIsRefused) {
  const auto says = [](const std::string& words, bool refuses) {
    LedCommand command{
        .argv = {"bash", "-c", "(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -q '" + words + "'"},
        .environment = OwnVariables(),
        .refuses = [refuses](std::span<const std::byte>) { return refuses; },
        .gains_nothing = true};
    return RunLedCommand(std::move(command)).value_or(-1) == 0;
  };
  EXPECT_TRUE(says("Permission denied", true));
  EXPECT_TRUE(says("Connection refused", false));
}

TEST(RunLedCommand, EndsAsTheCommandDoes) {
  EXPECT_EQ(RunScript("exit 0"), 0);
  EXPECT_EQ(RunScript("exit 7"), 7);
  EXPECT_EQ(RunScript("kill -KILL $$"), 137);
  EXPECT_EQ(RunProgram("trainyard-no-such-program"), 127);
  EXPECT_EQ(RunProgram("/etc"), 126);
}

TEST(RunLedCommand, PassesSignalsOn) {
  EXPECT_EQ(RunScript("trap 'exit 5' USR1; kill -USR1 $PPID; while :; do sleep 0.01; done"), 5);
  EXPECT_EQ(RunScript("kill -TERM $PPID; while :; do sleep 0.01; done"), 143);
}

TEST(RunLedCommand, LeavesTheCommandItsDescriptors) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  EXPECT_EQ(RunScript("echo seen >&" + std::to_string(writing.get())), 0);
  writing.Reset();
  std::array<char, 8> text{};
  EXPECT_EQ(read(reading.get(), text.data(), text.size()), 5);
}

/// A listener on this machine, with a door that redirects to it.
class LedConnection : public testing::Test {
 protected:
  LedConnection() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    EXPECT_EQ(getsockname(listener_.get(), generic, &size), 0);
    doors_ = {{.from = {INADDR_LOOPBACK, kNobodys}, .to = {INADDR_LOOPBACK, ntohs(address.sin_port)}}};
  }
  void SetUp() override {
    if (const Status doors = CheckConnectDoors(); !doors) GTEST_SKIP() << doors.error().message;
  }
  [[nodiscard]] bool IsAsked() const {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, kDeadlineMs) == 1;
  }

  UniqueFd listener_;
  std::vector<ConnectDoor> doors_;
};

TEST_F(LedConnection, GoesThroughTheDoor) {
  EXPECT_EQ(RunScript("exec 3<>/dev/tcp/127.0.0.1/1", doors_), 0);
  EXPECT_TRUE(IsAsked());
}

TEST_F(LedConnection, GoesThroughTheDoorWhenTheCommandHasEnded) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const std::string number = std::to_string(reading.get());
  EXPECT_EQ(RunScript("exec " + std::to_string(writing.get()) + ">&-; (read -u " + number +
                          "; exec 4<>/dev/tcp/127.0.0.1/1) & exit 3",
                      doors_),
            3);
  ASSERT_EQ(write(writing.get(), "\n", 1), 1);
  EXPECT_TRUE(IsAsked());
}

}  // namespace
}  // namespace trainyard::replica
