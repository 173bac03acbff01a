#include "programs/sandbox/network/replica_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/async/testing/temporary_folder.h"
#include "programs/sandbox/network/network_owner.h"
#include "programs/sandbox/testing/ordinary_user.h"

namespace trainyard::replica {
namespace {

constexpr int kServerPort = 8470;
constexpr int kPort = 2222;

UniqueFd Listen(const std::string& address, int port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0 ||
      listen(listener.get(), 8) != 0)
    return {};
  return listener;
}

/// Connects: 0, or the errno, within two seconds.
int ConnectError(const std::string& address, int port) {
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd done{.fd = client.get(), .events = POLLOUT, .revents = 0};
  if (poll(&done, 1, 2'000) != 1) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(client.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::size_t CountLinks() {
  std::size_t count = 0;
  struct if_nameindex* all = if_nameindex();
  for (auto* one = all; one->if_index != 0; ++one) ++count;
  if_freenameindex(all);
  return count;
}

class ReplicaNetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status possible = CheckIsolatedNetworks(); !possible) GTEST_SKIP() << possible.error().message;
  }
  ReplicaNetwork Make(std::int64_t job_uid, int replica) {
    const std::string name = std::to_string(job_uid) + "-worker-replica-" + std::to_string(replica) + "-1";
    const AttemptDir dir{folder_.path() + "/" + name};
    std::filesystem::create_directory(dir.path);
    auto made =
        ReplicaNetwork::Create({.dir = dir,
                                .job_uid = job_uid,
                                .address = "10.77.1." + std::to_string(replica + 1),
                                .doors = {{.port = kServerPort, .socket = folder_.path() + "/server.sock"}}});
    EXPECT_TRUE(made) << made.error().message;
    TY_CHECK(made.has_value());
    return std::move(*made);
  }
  static UniqueFd ListenIn(const ReplicaNetwork& network, const std::string& address, int port) {
    auto inside = RunInChild(network.owner(), [&]() -> Result<ChildReply> {
      TY_RETURN_IF_ERROR(EnterNetwork(network.network()));
      return ChildReply{.process = -1, .network = Listen(address, port)};
    });
    EXPECT_TRUE(inside && inside->network);
    return inside ? std::move(inside->network) : UniqueFd();
  }
  static int ConnectIn(const ReplicaNetwork& network, const std::string& address, int port) {
    const auto inside = RunInChild(network.owner(), [&]() -> Result<ChildReply> {
      TY_RETURN_IF_ERROR(EnterNetwork(network.network()));
      return ChildReply{.process = ConnectError(address, port), .network = {}};
    });
    EXPECT_TRUE(inside);
    return inside ? inside->process : -1;
  }
  pid_t RelayOf(const std::string& attempt) const {
    pid_t relay = 0;
    std::ifstream(folder_.path() + "/" + attempt + "/relay") >> relay;
    return relay;
  }
  std::size_t LinksOfSwitch(const std::string& attempt) const {
    const std::string network = "/proc/" + std::to_string(RelayOf(attempt)) + "/ns/net";
    const UniqueFd there(open(network.c_str(), O_RDONLY | O_CLOEXEC));
    const UniqueFd owner = geteuid() == 0 ? UniqueFd() : OwnerOf(there.get()).value_or(UniqueFd());
    const auto inside = RunInChild(owner.get(), [&]() -> Result<ChildReply> {
      TY_RETURN_IF_ERROR(EnterNetwork(there.get()));
      return ChildReply{.process = static_cast<pid_t>(CountLinks()), .network = {}};
    });
    EXPECT_TRUE(inside);
    return inside ? static_cast<std::size_t>(inside->process) : 0;
  }
  static std::string OwnNetwork() { return std::filesystem::read_symlink("/proc/self/ns/net"); }

  TemporaryFolder folder_;
};

TEST_F(ReplicaNetworkTest, ReplicasOfAJobReachEachOtherOnTheSamePort) {
  const ReplicaNetwork first = Make(1, 0);
  const ReplicaNetwork second = Make(1, 1);
  const UniqueFd at_first = ListenIn(first, "0.0.0.0", kPort);
  const UniqueFd at_second = ListenIn(second, "0.0.0.0", kPort);
  EXPECT_EQ(ConnectIn(second, "10.77.1.1", kPort), 0);
  EXPECT_EQ(ConnectIn(first, "10.77.1.2", kPort), 0);
}

TEST_F(ReplicaNetworkTest, NothingElseIsReached) {
  const std::string before = OwnNetwork();
  const UniqueFd on_the_machine = Listen("0.0.0.0", 0);
  sockaddr_in at{};
  socklen_t size = sizeof at;
  getsockname(on_the_machine.get(), reinterpret_cast<sockaddr*>(&at), &size);
  const int machine_port = ntohs(at.sin_port);
  const ReplicaNetwork mine = Make(1, 0);
  const ReplicaNetwork other_job = Make(2, 1);
  const UniqueFd at_other = ListenIn(other_job, "0.0.0.0", kPort);
  EXPECT_EQ(ConnectIn(other_job, "10.77.1.2", kPort), 0) << "it does listen";
  EXPECT_NE(ConnectIn(mine, "10.77.1.2", kPort), 0);
  EXPECT_EQ(ConnectIn(mine, "127.0.0.1", machine_port), ECONNREFUSED);
  EXPECT_EQ(ConnectIn(mine, "192.0.2.1", 80), ENETUNREACH);
  EXPECT_EQ(ConnectError("127.0.0.1", machine_port), 0) << "we are still on the machine";
  EXPECT_EQ(OwnNetwork(), before);
}

TEST_F(ReplicaNetworkTest, TheServerIsReached) {
  const ReplicaNetwork network = Make(1, 0);
  EXPECT_EQ(ConnectIn(network, "127.0.0.1", kServerPort), 0);
  EXPECT_EQ(ConnectIn(network, "127.0.0.1", kServerPort + 1), ECONNREFUSED);
}

TEST_F(ReplicaNetworkTest, ARestartedReplicaIsTheOnlyOneWithItsAddress) {
  const ReplicaNetwork stays = Make(1, 0);
  const UniqueFd at_first = ListenIn(stays, "0.0.0.0", kPort);  // whose connections stay open on this side
  for (int attempt = 0; attempt < 5; ++attempt) {
    const ReplicaNetwork again = Make(1, 1);
    const UniqueFd at_again = ListenIn(again, "0.0.0.0", kPort);
    EXPECT_EQ(ConnectIn(again, "10.77.1.1", kPort), 0);
    EXPECT_EQ(ConnectIn(stays, "10.77.1.2", kPort), 0);
    EXPECT_EQ(LinksOfSwitch("1-worker-replica-0-1"), 4U) << "the loopback, the bridge, two ports";
  }
}

TEST_F(ReplicaNetworkTest, AllOfAJobHaveOneOwner) {
  const ReplicaNetwork first = Make(1, 0);
  const ReplicaNetwork second = Make(1, 1);
  const ReplicaNetwork other_job = Make(2, 0);
  const auto owner = [](const ReplicaNetwork& network) {
    struct stat found{};
    const UniqueFd by_kernel = OwnerOf(network.network()).value_or(UniqueFd());
    EXPECT_EQ(fstat(by_kernel.get(), &found), 0);
    return found.st_ino;
  };
  const bool is_root = geteuid() == 0;
  EXPECT_EQ(first.owner() < 0, is_root) << "root owns them without one";
  EXPECT_EQ(owner(first), owner(second));
  EXPECT_EQ(owner(first) == owner(other_job), is_root);
}

TEST_F(ReplicaNetworkTest, LeavesNothingOnTheMachine) {
  const std::size_t before = CountLinks();
  pid_t relay = 0;
  {
    const ReplicaNetwork network = Make(1, 0);
    EXPECT_EQ(CountLinks(), before) << "also while it is there";
    relay = RelayOf("1-worker-replica-0-1");
    EXPECT_EQ(kill(relay, 0), 0);
  }
  EXPECT_NE(kill(relay, 0), 0);
}

TEST(ReplicaNetworkOfOrdinaryUserTest, IsTheSame) {
  if (geteuid() != 0) GTEST_SKIP() << "the other tests are this test for an ordinary user";
  if (!AskAsOrdinaryUser([] { return CheckIsolatedNetworks().has_value(); }))
    GTEST_SKIP() << "users may not have networks of their own here";
  EXPECT_TRUE(PassAsOrdinaryUser("ReplicaNetworkTest.*:NetworkOwnerTest.*"));
}

}  // namespace
}  // namespace trainyard::replica
